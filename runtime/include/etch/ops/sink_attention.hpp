// SPDX-License-Identifier: Apache-2.0
// Attention with a sink (Xiao et al. 2024, arXiv:2309.17453; a learned one as gpt-oss has it): a score of each head
// that takes part in the softmax as a key's would, and has no value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// What becomes of the scores of a query before the softmax, and the score that is beside them.
struct SinkBias {
    ScoreBias bias;
    const float* sinks;  // f32 [heads], times log2(e)
};

// As BiasedAttention, whose softmax is that of the sink's score, then of the keys'.
template <class Cache>
struct SinkAttention {
    Attention<Cache> attention;
    SinkBias bias;

    std::uint32_t units() const noexcept { return attention.units(); }
    std::uint64_t cost() const noexcept { return attention.cost(); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using SinkAttentionS8 = SinkAttention<S8HeadCache>;
using SinkAttentionF32 = SinkAttention<F32HeadCache>;

// Scratch: that of attention, and a panel of scores more for each row of a tile. codegen/memory/plan.py computes the
// same numbers.
constexpr std::size_t sink_scratch_bytes(const HeadShape& s) noexcept {
    return aligned_bytes(s.tile_rows * kPanelWidth * sizeof(float));
}
constexpr std::size_t sink_s8_scratch_bytes(const HeadShape& s) noexcept {
    return attention_s8_scratch_bytes(s) + sink_scratch_bytes(s);
}
constexpr std::size_t sink_f32_scratch_bytes(const HeadShape& s) noexcept {
    return attention_f32_scratch_bytes(s) + sink_scratch_bytes(s);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
