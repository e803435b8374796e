// SPDX-License-Identifier: Apache-2.0
// Texts that a call reads again and again, as the caller has them.
#pragma once

#include <cstddef>
#include <string_view>

#include "etch/etch.h"
#include "etch/overlap.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Of C++ or of C, whose texts have a layout of their own: a function that takes a list takes either pointer.
struct TextList {
    const std::string_view* texts = nullptr;
    const etch_text* c_texts = nullptr;

    constexpr TextList() noexcept = default;
    constexpr TextList(std::nullptr_t) noexcept {}  // of no texts
    constexpr TextList(const std::string_view* list) noexcept : texts(list) {}
    constexpr TextList(const etch_text* list) noexcept : c_texts(list) {}

    std::string_view operator[](std::size_t i) const noexcept {
        return c_texts == nullptr ? texts[i] : std::string_view{c_texts[i].data, c_texts[i].size};
    }

    // Whether one of `count` texts, or what says where they are, has a byte in the memory.
    bool has_one_in(const Written& memory, std::size_t count) const noexcept {
        return c_texts == nullptr ? holds_one(memory, texts, count) : holds_one(memory, c_texts, count);
    }
    // Whether what says where texts [first, count) are has.
    bool is_in(const Written& memory, std::size_t first, std::size_t count) const noexcept {
        return c_texts == nullptr ? memory.holds(texts + first, (count - first) * sizeof *texts)
                                  : memory.holds(c_texts + first, (count - first) * sizeof *c_texts);
    }
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
