// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// What a model that embeds wants before a text, by what the text is for.
struct Prompt {
    std::string_view name;
    std::string_view text;
};

// All that a model has, none with the name of another.
struct Prompts {
    const Prompt* prompts;  // [count]
    std::uint32_t count;
    const Prompt* usual;  // one of them, for texts of which nothing else is known; null where they come as they are

    constexpr const Prompt* begin() const noexcept { return prompts; }
    constexpr const Prompt* end() const noexcept { return prompts + count; }

    // Null where there is none of this name.
    constexpr const Prompt* find(std::string_view name) const noexcept {
        for (const Prompt& prompt : *this) {
            if (prompt.name == name) return &prompt;
        }
        return nullptr;
    }
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
