// SPDX-License-Identifier: Apache-2.0
// Decimal numbers as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace etch::cli {

// Digits only: no sign, no spaces, at most 18 digits.
inline std::optional<std::uint64_t> parse_number(std::string_view text) {
    if (text.empty() || text.size() > 18) {
        return std::nullopt;
    }
    std::uint64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
}

}  // namespace etch::cli
