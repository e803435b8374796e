// SPDX-License-Identifier: Apache-2.0
// Composition: Hangul syllables by the arithmetic of the Unicode Standard, chapter 3.12, all else from a table.
#include "normal_form.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

constexpr std::uint32_t kLeadingFirst = 0x1100;
constexpr std::uint32_t kVowelFirst = 0x1161;
constexpr std::uint32_t kBeforeTrailing = 0x11A7;
constexpr std::uint32_t kLeadingCount = 19;
constexpr std::uint32_t kVowelCount = 21;
constexpr std::uint32_t kTrailingCount = 28;

std::uint32_t compose_hangul(std::uint32_t first, std::uint32_t second) noexcept {
    if (first - kLeadingFirst < kLeadingCount && second - kVowelFirst < kVowelCount) {
        return kHangulFirst + ((first - kLeadingFirst) * kVowelCount + second - kVowelFirst) * kTrailingCount;
    }
    const bool is_open = is_hangul_syllable(first) && (first - kHangulFirst) % kTrailingCount == 0;
    return is_open && second - kBeforeTrailing < kTrailingCount ? first + second - kBeforeTrailing : 0;
}

}  // namespace

std::uint32_t compose(const NormalForm& form, std::uint32_t first, const Element& second) noexcept {
    if ((second.entry & NormalForm::kIsSecond) == 0) return 0;
    if (second.scalar - kVowelFirst < kBeforeTrailing + kTrailingCount - kVowelFirst) {
        return compose_hangul(first, second.scalar);
    }
    std::uint32_t low = 0;
    std::uint32_t high = form.pair_count;
    while (low < high) {
        const std::uint32_t middle = (low + high) / 2;
        const std::uint32_t* pair = form.pairs + std::size_t{3} * middle;
        if (pair[0] == second.scalar && pair[1] == first) return pair[2];
        if (pair[0] < second.scalar || (pair[0] == second.scalar && pair[1] < first)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
