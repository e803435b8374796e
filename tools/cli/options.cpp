// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <string>

#include "failure.hpp"
#include "text/number.hpp"

namespace etch::cli {

const OptionGroup* OptionGroup::all_ = nullptr;

const Option* OptionGroup::find(std::string_view name) const {
    const Option* const found = std::find_if(begin_, end_, [&](const Option& option) { return option.name == name; });
    return found == end_ ? nullptr : found;
}

const Option* OptionGroup::find_in_any(std::string_view name) {
    for (const OptionGroup* group = all_; group != nullptr; group = group->next_) {
        if (const Option* const found = group->find(name)) {
            return found;
        }
    }
    return nullptr;
}

std::uint32_t number(std::string_view option, std::string_view text, std::uint32_t low, std::uint32_t high) {
    const std::optional<std::uint64_t> value = parse_number(text);
    if (!value || *value < low || *value > high) {
        fail(kWrongUse, "%s: expected a number from %u to %u, got %s", std::string(option).c_str(), low, high,
             quoted(text).c_str());
    }
    return static_cast<std::uint32_t>(*value);
}

void refuse_together(const char* one, const char* other) {
    fail(kWrongUse, "%s and %s cannot be used together", one, other);
}

}  // namespace etch::cli
