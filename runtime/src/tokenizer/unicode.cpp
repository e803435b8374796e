// SPDX-License-Identifier: Apache-2.0
#include "unicode.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

Parts stripped_parts(std::uint32_t scalar) noexcept {
    constexpr std::uint32_t kScalarMask = 0xFFFFFF;
    // The last range that begins at `scalar` or before. Steps of a fixed number and no branch on the data: which way
    // each goes is a coin toss, and a wrong guess costs more than the step.
    std::uint32_t low = 0;
    for (std::uint32_t size = kStripRangeCount; size > 1;) {
        const std::uint32_t half = size / 2;
        low += (kStripRanges[low + half].first_and_plane & kScalarMask) <= scalar ? half : 0;
        size -= half;
    }
    const StripRange& range = kStripRanges[low];
    const std::uint32_t target = kStripTargets[range.target + scalar - (range.first_and_plane & kScalarMask)];
    const std::uint32_t plane = range.first_and_plane >> 24;
    if (plane != kSequencePlane) return {{(plane << 16) | target, 0, 0}, 1};
    const std::uint32_t* sequence = kStripSequences + target * kSequenceLength;
    return {{sequence[0], sequence[1], sequence[2]}, sequence[2] == 0 ? 2U : 3U};
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
