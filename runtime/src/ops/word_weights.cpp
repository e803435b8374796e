// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/word_weights.hpp"

#include "../kernels/kernel_set.hpp"
#include "../kernels/scalar/math.hpp"
#include "tiny.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Of a logit, or of the largest of some and 0.
float weight_of(float x, bool twice) noexcept {
    x = without_tiny(x);
    if (!(x > 0.0f)) return 0.0f;  // most entries are of no text
    const float once = scalar::log1p(x);
    return twice ? scalar::log1p(once) : once;
}

void keep_largest(const F32Rows& x, std::uint32_t rows, float* largest) noexcept {
    for (std::uint32_t row = 0; row < rows; ++row) {
        const float* const values = x.from(row).data;
        for (std::uint32_t i = 0; i < x.width; ++i)
            largest[i] = values[i] > largest[i] ? values[i] : largest[i];
    }
}

void add_weights(const F32Rows& x, std::uint32_t rows, bool twice, float* sums) noexcept {
    for (std::uint32_t row = 0; row < rows; ++row) {
        const float* const values = x.from(row).data;
        for (std::uint32_t i = 0; i < x.width; ++i)
            sums[i] = sums[i] + weight_of(values[i], twice);
    }
}

}  // namespace

template <class Weights>
void WordWeights<Weights>::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    float* const logits = reinterpret_cast<float*>(context.scratch);
    const OpContext behind{context.kernels, context.scratch + word_weights_scratch_bytes()};
    const std::uint32_t begin = first * kPanelWidth;
    const std::uint32_t end = last * kPanelWidth < weights.outputs ? last * kPanelWidth : weights.outputs;
    for (const RowBlock entries : RowBlocks(end - begin, kWordEntries)) {
        const std::uint32_t entry = begin + entries.first;
        const Weights part = outputs_of(weights, context.kernels.packing, entry, entries.count);
        const F32Rows x{logits, entries.count};
        float* const to = out.data + entry;
        for (std::uint32_t i = 0; i < entries.count; ++i)
            to[i] = 0.0f;
        for (const RowBlock block : RowBlocks(count, kWordRows)) {
            const typename Weights::Linear linear{part, block.count, input.from(block.first), x};
            linear.run(behind, 0, linear.units());
            if (pooling == WordPooling::max) {
                keep_largest(x, block.count, to);
            } else {
                add_weights(x, block.count, twice, to);
            }
        }
        if (pooling != WordPooling::max) continue;
        for (std::uint32_t i = 0; i < entries.count; ++i)
            to[i] = weight_of(to[i], twice);
    }
}

template void WordWeightsS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void WordWeightsF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
