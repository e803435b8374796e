// SPDX-License-Identifier: Apache-2.0
// The class of a character.
#pragma once

#include <cstdint>

#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Remembers the range of the last character beyond ASCII: most have a neighbour of it in the text.
class CharacterClassifier {
  public:
    explicit CharacterClassifier(const CharacterClasses& classes) noexcept : classes_(classes) {}

    std::uint32_t class_of(std::uint32_t scalar) noexcept {
        if (scalar < 0x80U) return classes_.ascii_classes[scalar];
        constexpr std::uint32_t kClassMask = (1U << CharacterClasses::kClassBits) - 1;
        const std::uint32_t* ranges = classes_.class_ranges;
        const std::uint32_t most = scalar << CharacterClasses::kClassBits | kClassMask;  // of the ranges up to here
        if (ranges[range_] > most || (range_ + 1 < classes_.range_count && ranges[range_ + 1] <= most)) {
            range_ = 0;
            for (std::uint32_t end = classes_.range_count; end - range_ > 1;) {
                const std::uint32_t middle = range_ + (end - range_) / 2;
                if (ranges[middle] <= most) {
                    range_ = middle;
                } else {
                    end = middle;
                }
            }
        }
        return ranges[range_] & kClassMask;
    }

  private:
    const CharacterClasses& classes_;
    std::uint32_t range_ = 0;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
