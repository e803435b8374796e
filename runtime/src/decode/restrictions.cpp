// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/restrictions.hpp"

#include "log_sum.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Whether the token at `i` is not there before it.
bool is_new(const TokensBefore& before, std::uint32_t i) noexcept {
    for (std::uint32_t j = 0; j < i; ++j)
        if (before[j] == before[i]) return false;
    return true;
}

// Whether the last tokens are those from `first` on, `count` of them.
bool ends_with(const TokensBefore& before, std::uint32_t first, std::uint32_t count) noexcept {
    const std::uint32_t last = before.count() - count;
    for (std::uint32_t i = 0; i < count; ++i)
        if (before[first + i] != before[last + i]) return false;
    return true;
}

void penalize(const TokensBefore& before, float penalty, float shift, float* logits) noexcept {
    for (std::uint32_t i = 0; i < before.count(); ++i) {
        if (!is_new(before, i)) continue;
        float& logit = logits[before[i]];
        const float value = logit - shift;
        logit = shift + (value < 0.0f ? value * penalty : value / penalty);
    }
}

}  // namespace

void restrict_logits(const Restrictions& restrictions, const TokensBefore& before, float shift,
                     float* logits) noexcept {
    if (restrictions.repetition_penalty != 1.0f) penalize(before, restrictions.repetition_penalty, shift, logits);
    if (const std::uint32_t size = restrictions.no_repeat; size != 0) {
        for (std::uint32_t i = 0; i + size <= before.count(); ++i)
            if (ends_with(before, i, size - 1)) logits[before[i + size - 1]] = kNotThere;
    }
    const std::int32_t* word = restrictions.words;
    for (std::uint32_t i = 0; i < restrictions.word_count; ++i) {
        const auto size = static_cast<std::uint32_t>(*word++);
        bool follows = size - 1 <= before.count();
        for (std::uint32_t j = 0; follows && j + 1 < size; ++j)
            follows = before[before.count() - (size - 1) + j] == word[j];
        if (follows) logits[word[size - 1]] = kNotThere;
        word += size;
    }
    if (before.written_count == 0) {
        for (std::uint32_t i = 0; i < restrictions.not_first_count; ++i)
            logits[restrictions.not_first[i]] = kNotThere;
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
