// SPDX-License-Identifier: Apache-2.0
// Texts that a call reads again and again, as the caller has them.
#pragma once

#include <cstddef>
#include <string_view>

#include "etch/etch.h"
#include "etch/session.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Of C++ or of C, whose texts have a layout of their own: a function that takes a list takes either pointer.
struct TextList {
    const std::string_view* texts = nullptr;
    const etch_text* c_texts = nullptr;

    constexpr TextList() noexcept = default;
    constexpr TextList(const std::string_view* list) noexcept : texts(list) {}
    constexpr TextList(const etch_text* list) noexcept : c_texts(list) {}

    std::string_view operator[](std::size_t i) const noexcept {
        return c_texts == nullptr ? texts[i] : std::string_view{c_texts[i].data, c_texts[i].size};
    }
};

inline bool holds_one(const Written& memory, const TextList& list, std::size_t count) noexcept {
    return list.c_texts == nullptr ? holds_one(memory, list.texts, count) : holds_one(memory, list.c_texts, count);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
