// SPDX-License-Identifier: Apache-2.0
// Whether what a call reads lies where it writes.
#pragma once

#include <cstddef>
#include <string_view>

#include "etch/etch.h"
#include "etch/text_pair.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Memory that a call writes while it still reads what it was given.
struct Written {
    const void* data;
    std::size_t bytes;

    // Whether one of these bytes is in it.
    bool holds(const void* first, std::size_t count) const noexcept;
};

// Whether one of the texts, or the list of them, has a byte in memory that is written before all are read.
bool holds_one(const Written& memory, const std::string_view* texts, std::size_t count) noexcept;
bool holds_one(const Written& memory, const etch_text* texts, std::size_t count) noexcept;
bool holds_one(const Written& memory, const TextPair* pairs, std::size_t count) noexcept;
bool holds_one(const Written& memory, const etch_text_pair* pairs, std::size_t count) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
