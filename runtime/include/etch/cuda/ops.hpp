// SPDX-License-Identifier: Apache-2.0
// The ops that generated forward passes on a GPU are made of: products, which cuBLASLt computes, and fused kernels of
// our own. A runner is any object that takes each of them; etch::cuda::Runner puts them into a stream.
//
// Rows lie in device memory. A row of s8 or bf16 takes its width rounded up to kRowPadding values, zeros behind the
// last; so do the rows of products, which have anything behind it. How many rows there are is known in device memory
// only (RowCount::number): a captured graph serves every length of its bucket. Rows behind them hold any finite values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/cuda/bf16.hpp"
#include "etch/cuda/input.hpp"
#include "etch/ops/activation.hpp"
#include "etch/ops/embedding.hpp"
#include "etch/ops/pool.hpp"
#include "etch/ops/row_ops.hpp"
#include "etch/ops/rows.hpp"
#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

inline constexpr std::uint32_t kRowPadding = 16;

constexpr std::uint32_t padded(std::uint32_t width) noexcept {
    return static_cast<std::uint32_t>(round_up(width, kRowPadding));
}

// --- rows and weights in device memory -------------------------------------------------------------------------------

struct S8Rows {
    std::int8_t* q;  // a row's values are q * scales[row]
    float* scales;
    std::uint32_t stride;  // values
};

struct S32Rows {
    std::int32_t* sums;
    std::uint32_t stride;
};

struct Bf16Rows {
    Bf16* values;
    std::uint32_t stride;
};

// Matrices are [outputs][inputs], both padded with zeros. An absent bias is zeros.
struct S8Linear {
    const std::int8_t* weights;
    const float* scales;  // [outputs]
    const float* bias;    // [outputs]
    std::uint32_t outputs;
    std::uint32_t inputs;
};

struct Bf16Linear {
    const Bf16* weights;
    const Bf16* bias;  // [outputs], padded
    std::uint32_t outputs;
    std::uint32_t inputs;
};

// In the packing of the model's tables.
struct F32Linear {
    const float* weights;
    const float* bias;
    std::uint32_t outputs;
    std::uint32_t inputs;
    Packing packing;
};

struct Heads {
    std::uint32_t heads;
    std::uint32_t width;
    float score_scale;  // log2(e) / sqrt(width)
};

// Queries, keys and values by head, s8, with a scale per head and token.
struct S8Heads {
    std::int8_t* q;
    float* scales;
    std::uint32_t places;  // most_places() of the pass
};

constexpr std::size_t s8_heads_bytes(const Heads& heads, std::uint32_t places) noexcept {
    return std::size_t{3} * heads.heads * padded(heads.width) * places;
}
constexpr std::size_t s8_heads_scales(const Heads& heads, std::uint32_t places) noexcept {
    return std::size_t{3} * heads.heads * places;
}

// --- what a pass works on --------------------------------------------------------------------------------------------

struct Input {
    const Counts* counts;
    const RowInfo* tokens;
    const TextInfo* texts;
};

struct RowCount {
    const std::uint32_t* number;  // in device memory
    std::uint32_t most;           // what grids are made for
    std::uint32_t multiplied;     // rows of products: a bucket
    const TextInfo* first_rows;   // null, or row t stands for the first row of text t
};

// Lengths that a graph or the launches of a batch are made for.
struct Pass {
    std::uint32_t rows;     // a bucket
    std::uint32_t texts;    // at most
    std::uint32_t longest;  // tokens of a text, at most

    constexpr std::uint32_t places() const noexcept { return most_places(rows, texts); }
};

// --- ops -------------------------------------------------------------------------------------------------------------

// Rows as floats, for what is added to them, and quantized, for products.
struct HiddenRows {
    F32Rows values;
    S8Rows quantized;
};

// out = LayerNorm((word + segment) + position). Of S8Embedding or F32Embedding to HiddenRows or Bf16Rows.
template <class Embedding, class Out>
struct EmbedAndNorm {
    Input input;
    RowCount rows;
    Embedding word;
    Embedding segment;
    Embedding position;
    LayerNormWeights norm;
    std::uint32_t width;
    Out out;
};
template <class Embedding, class Out>
EmbedAndNorm(Input, RowCount, Embedding, Embedding, Embedding, LayerNormWeights, std::uint32_t, Out)
    -> EmbedAndNorm<Embedding, Out>;

// out = in W^T, exact.
struct ProductS8 {
    RowCount rows;
    S8Rows in;
    S8Linear linear;  // scales and bias are left to the op that follows
    S32Rows out;
};

// What cuBLASLt adds to a product. Its GELU is the tanh form.
enum class Epilogue : std::uint8_t { bias, bias_relu, bias_gelu };

// out = epilogue(in W^T), sums in f32.
struct ProductBf16 {
    RowCount rows;
    Bf16Rows in;
    Bf16Linear linear;
    Epilogue epilogue;
    Bf16Rows out;
};

// The sums of a product as floats: (float(sum) * row scale) * column scale + bias.
struct Dequantized {
    S32Rows sums;
    const float* row_scales;
    S8Linear linear;
};

// Three projections, one after the other in a row, quantized per head.
struct SplitProjections {
    Input input;
    RowCount rows;
    Dequantized in;
    Heads heads;
    S8Heads out;
};

// context = softmax(query keys^T / sqrt(width)) values, for the rows that `rows` says.
struct AttentionS8 {
    Input input;
    RowCount rows;
    Pass pass;
    Heads heads;
    S8Heads in;
    F32Rows context;
};

// Queries, keys and values, one after the other in a row, each head padded.
struct AttentionBf16 {
    Input input;
    RowCount rows;
    Pass pass;
    Heads heads;
    Bf16Rows in;
    Bf16Rows context;
};

struct QuantizeValues {
    RowCount rows;
    F32Rows in;
    S8Rows out;
};

// out = activation(in). Of Dequantized to S8Rows or F32Rows, of Bf16Rows to Bf16Rows or F32Rows.
template <class In, class Out>
struct Activate {
    RowCount rows;
    In in;
    Activation activation;
    std::uint32_t width;
    Out out;
};
template <class In, class Out>
Activate(RowCount, In, Activation, std::uint32_t, Out) -> Activate<In, Out>;

// out = LayerNorm(in + residual). Of Dequantized and F32Rows to HiddenRows, all of Bf16Rows. With rows.first_rows the
// residual is read where those rows lie, and `out` lies elsewhere; without, they may be the same.
template <class In, class Residual, class Out>
struct AddAndNorm {
    RowCount rows;
    In in;
    Residual residual;
    LayerNormWeights norm;
    std::uint32_t width;
    Out out;
};
template <class In, class Residual, class Out>
AddAndNorm(RowCount, In, Residual, LayerNormWeights, std::uint32_t, Out) -> AddAndNorm<In, Residual, Out>;

// Of F32Rows or Bf16Rows.
template <class In>
struct PoolRows {
    Input input;
    RowCount texts;
    Pooling kind;
    In in;
    F32Rows out;  // [texts]
};
template <class In>
PoolRows(Input, RowCount, Pooling, In, F32Rows) -> PoolRows<In>;

// The f32 linear of a head, over k in order.
struct LinearRows {
    RowCount rows;
    F32Linear linear;
    F32Rows in;
    F32Rows out;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
