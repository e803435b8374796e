// SPDX-License-Identifier: Apache-2.0
// What the tests of attention share: ops in pieces, caches of both kinds of operands, and attention in doubles.
#pragma once

#include <algorithm>
#include <cmath>

#include "etch/ops/attention.hpp"
#include "etch/ops/global_attention.hpp"
#include "etch/ops/sink_attention.hpp"
#include "support.hpp"

namespace etch::testing {

template <class Op>
void run(const Op& op, const OpContext& context, std::uint32_t at_once) {
    for (std::uint32_t unit = 0; unit < op.units(); unit += at_once) {
        op.run(context, unit, std::min(unit + at_once, op.units()));
    }
}

// For packing and for attention.
inline std::size_t s8_scratch_bytes(const HeadShape& s) {
    return std::max(attention_s8_scratch_bytes(s), pack_s8_scratch_bytes(s));
}

// Keys and values of a shape, full of what is no zero; `more` bytes of scratch than attention takes.
struct S8Heads {
    using PackKeys = PackKeysS8;
    using PackValues = PackValuesS8;
    using Attention = AttentionS8;
    using BiasedAttention = BiasedAttentionS8;
    using CappedAttention = CappedAttentionS8;
    using GlobalAttention = GlobalAttentionS8;
    using SinkAttention = SinkAttentionS8;
    static constexpr std::int8_t kUnset = 0x5A;

    explicit S8Heads(const HeadShape& s, std::size_t more = 0)
        : key_bytes(s.key_heads * s8_key_bytes(s), kUnset),
          value_bytes(s.key_heads * s8_value_bytes(s), kUnset),
          key_scales(s.key_heads * s.cache_tokens, NAN),
          value_scales(s.key_heads * s.cache_tokens, NAN),
          scratch(s8_scratch_bytes(s) + more, 0x5A) {}
    S8HeadCache keys() { return {key_bytes.data(), key_scales.data()}; }
    S8HeadCache values() { return {value_bytes.data(), value_scales.data()}; }

    EdgeArray<std::int8_t> key_bytes;
    EdgeArray<std::int8_t> value_bytes;
    EdgeArray<float> key_scales;
    EdgeArray<float> value_scales;
    EdgeArray<std::uint8_t> scratch;
};

struct F32Heads {
    using PackKeys = PackKeysF32;
    using PackValues = PackValuesF32;
    using Attention = AttentionF32;
    using BiasedAttention = BiasedAttentionF32;
    using CappedAttention = CappedAttentionF32;
    using GlobalAttention = GlobalAttentionF32;
    using SinkAttention = SinkAttentionF32;
    static constexpr float kUnset = -1234.5f;

    explicit F32Heads(const HeadShape& s, std::size_t more = 0)
        : key_floats(s.key_heads * f32_key_elements(s), kUnset),
          value_floats(s.key_heads * f32_value_elements(s), kUnset),
          scratch(attention_f32_scratch_bytes(s) + more, 0x5A) {}
    F32HeadCache keys() { return {key_floats.data()}; }
    F32HeadCache values() { return {value_floats.data()}; }

    EdgeArray<float> key_floats;
    EdgeArray<float> value_floats;
    EdgeArray<std::uint8_t> scratch;
};

}  // namespace etch::testing
