// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <unordered_map>

#include "model.hpp"

namespace etch::cli {

std::string_view piece(std::int32_t id) {
    static std::unordered_map<std::int32_t, std::string> known;
    const auto [found, is_new] = known.try_emplace(id);
    if (is_new) {
        found->second.resize(copy_piece(id, nullptr, 0));
        copy_piece(id, found->second.data(), found->second.size());
    }
    return found->second;
}

}  // namespace etch::cli
