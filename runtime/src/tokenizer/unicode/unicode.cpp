// SPDX-License-Identifier: Apache-2.0
#include "unicode.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

Parts stripped_parts(std::uint32_t scalar) noexcept {
    constexpr std::uint32_t kScalarMask = (1U << kStripScalarBits) - 1;
    constexpr std::uint32_t kPlaneMask = (1U << kStripPlaneBits) - 1;
    // The last range that begins at `scalar` or before. Steps of a fixed number and no branch on the data: which way
    // each goes is a coin toss, and a wrong guess costs more than the step.
    std::uint32_t low = 0;
    for (std::uint32_t size = kStripRangeCount; size > 1;) {
        const std::uint32_t half = size / 2;
        low += (kStripRanges[low + half] & kScalarMask) <= scalar ? half : 0;
        size -= half;
    }
    const std::uint32_t range = kStripRanges[low];
    const std::uint32_t first_target = range >> (kStripScalarBits + kStripPlaneBits);
    const std::uint32_t target = kStripTargets[first_target + scalar - (range & kScalarMask)];
    const std::uint32_t plane = range >> kStripScalarBits & kPlaneMask;
    if (plane != kSequencePlane) return {{(plane << 16) | target, 0, 0}, 1};
    const std::uint32_t* sequence = kStripSequences + target * kSequenceLength;
    return {{sequence[0], sequence[1], sequence[2]}, sequence[2] == 0 ? 2U : 3U};
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
