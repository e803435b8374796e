// SPDX-License-Identifier: Apache-2.0
#include "etch/session.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

Status check_tokens(const std::int32_t* ids, const std::uint8_t* segments, std::uint32_t count,
                    const TokenLimits& limits) noexcept {
    if (count == 0) return Status::no_tokens;
    if (count > limits.max_tokens) return Status::too_many_tokens;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (ids[i] < 0 || static_cast<std::uint32_t>(ids[i]) >= limits.vocabulary) return Status::token_out_of_range;
        if (segments != nullptr && segments[i] >= limits.segments) return Status::segment_out_of_range;
    }
    return Status::ok;
}

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

std::uint32_t argmax(const float* values, std::uint32_t n) noexcept {
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < n; ++i) {
        if (values[i] > values[best]) best = i;
    }
    return best;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
