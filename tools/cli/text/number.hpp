// SPDX-License-Identifier: Apache-2.0
// Numbers as users write them.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

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

// A finite number such as 3, -0.25 or 1e-3, with a point whatever the locale; nothing before it or behind it.
inline std::optional<double> parse_decimal(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace etch::cli
