// SPDX-License-Identifier: Apache-2.0
#include "value_list.hpp"

#include <algorithm>

namespace etch::cli {
namespace {

std::string_view without_spaces(std::string_view part) {
    part.remove_prefix(std::min(part.size(), part.find_first_not_of(' ')));
    part.remove_suffix(part.size() - (part.find_last_not_of(' ') + 1));
    return part;
}

}  // namespace

std::vector<std::string_view> split_value_list(std::string_view field) {
    std::vector<std::string_view> parts;
    if (without_spaces(field).empty()) {
        return parts;
    }
    while (true) {
        const std::size_t end = field.find(';');
        parts.push_back(without_spaces(field.substr(0, end)));
        if (end == std::string_view::npos) {
            return parts;
        }
        field.remove_prefix(end + 1);
    }
}

}  // namespace etch::cli
