// SPDX-License-Identifier: Apache-2.0
// (word + segment) + position, per token; the position of a row is that in its text. Units: rows. Token ids and
// segments were checked when the call began.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Rows of s8 [entries][width] with one scale each: entry = float(q) * scale. With factors the rows are of 4 bits, as
// Packing::rows has them (packing.hpp): entry = float(q * factor) * scale.
struct S8Embedding {
    const std::int8_t* table;
    const float* scales;  // [entries]
    const std::uint8_t* factors = nullptr;
};

// f32 [entries][width].
struct F32Embedding {
    const float* table;
};

// `Embedding` is S8Embedding or F32Embedding.
template <class Embedding>
struct EmbeddingSum {
    Embedding word;
    Embedding segment;
    Embedding position;
    const Texts& texts;
    const std::int32_t* ids;       // [rows]
    const std::uint8_t* segments;  // [rows]
    F32Rows out;                   // [rows][width]

    std::uint32_t units() const noexcept { return texts.rows(); }
    std::uint64_t cost() const noexcept { return kCostOfEmbeddedValue * texts.rows() * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

extern template struct EmbeddingSum<S8Embedding>;
extern template struct EmbeddingSum<F32Embedding>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
