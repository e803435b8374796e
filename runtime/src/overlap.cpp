// SPDX-License-Identifier: Apache-2.0
#include "etch/overlap.hpp"

#include <cstdint>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

bool Written::holds(const void* first, std::size_t count) const noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const auto other = reinterpret_cast<std::uintptr_t>(first);
    return begin <= other ? other - begin < bytes && count != 0 : begin - other < count && bytes != 0;
}

namespace {

bool holds(const Written& memory, std::string_view text) noexcept {
    return memory.holds(text.data(), text.size());
}
bool holds(const Written& memory, const etch_text& text) noexcept {
    return memory.holds(text.data, text.size);
}
template <class Pair>
bool holds(const Written& memory, const Pair& pair) noexcept {
    return holds(memory, pair.first) || holds(memory, pair.second);
}

template <class Text>
bool holds_any(const Written& memory, const Text* texts, std::size_t count) noexcept {
    bool one = memory.holds(texts, count * sizeof *texts);
    for (std::size_t i = 0; i < count; ++i)
        one = one || holds(memory, texts[i]);
    return one;
}

}  // namespace

bool holds_one(const Written& memory, const std::string_view* texts, std::size_t count) noexcept {
    return holds_any(memory, texts, count);
}

bool holds_one(const Written& memory, const etch_text* texts, std::size_t count) noexcept {
    return holds_any(memory, texts, count);
}

bool holds_one(const Written& memory, const TextPair* pairs, std::size_t count) noexcept {
    return holds_any(memory, pairs, count);
}

bool holds_one(const Written& memory, const etch_text_pair* pairs, std::size_t count) noexcept {
    return holds_any(memory, pairs, count);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
