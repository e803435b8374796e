// SPDX-License-Identifier: Apache-2.0
// The interface of the compute kernels. One KernelSet per instruction set: matrix products and the operations along a
// row that the arithmetic contract (runtime/ARITHMETIC.md) fixes bit for bit. The scalar set is its readable form;
// every other set gives the same bits.
//
// Common rules: pointers may be unaligned unless said otherwise, outputs do not alias inputs unless said otherwise,
// sizes are in elements unless named bytes, no function allocates, and no function fails: callers validate before the
// first op.
//
// Weights may be packed for more inputs than are multiplied, as in a cache of values that grows: of each output's
// allocated_k the first k are. s8 weights from there up to a multiple of 4 (panel) or 16 (rows) are read, whatever they
// are, and multiplied by the zeros that a row of `a` ends with; amx_int8 reads up to 12 more of what follows, nothing
// behind the matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/ops/activation.hpp"
#include "etch/ops/rows.hpp"
#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// out[r][c] = activation((float(acc) * a.scales[r]) * column_scales[c] + bias[c]) + residual[r][c],
// acc = sum over k of a[r][k] * weights[c][k], exact in int32.
struct MatmulS8 {
    QuantizedRows a;             // [rows][k], each quantized from k values
    const std::int8_t* weights;  // [n][allocated_k] in the set's packing; of Packing::rows 4-byte aligned, like a
    const float* column_scales;  // [n]; null: 1.0f
    const float* bias;           // [n]; null: +0.0f
    const float* residual;       // [rows][n], row stride out_stride; null: none; may be equal to out
    float* out;                  // [rows][n]
    std::size_t out_stride;      // floats between rows of out and of residual
    std::uint32_t rows;
    std::uint32_t k;
    std::uint32_t n;
    Activation activation;
    std::uint32_t allocated_k = k;  // inputs that the weights are packed for, at least k
};

// out[r][c] = activation((sum * row_scales[r]) + bias[c]) + residual[r][c],
// sum = a[r][0] * weights[c][0] + a[r][1] * weights[c][1] + ... from +0.0f in the order of k, no fused multiply-add.
struct MatmulF32 {
    const float* a;           // [rows][k], row stride a_stride
    std::size_t a_stride;     // floats
    const float* weights;     // [n][allocated_k] in the set's packing
    const float* row_scales;  // [rows]; null: the multiplication is left out
    const float* bias;        // [n]; null: +0.0f
    const float* residual;    // as in MatmulS8
    float* out;               // [rows][n]
    std::size_t out_stride;
    std::uint32_t rows;
    std::uint32_t k;
    std::uint32_t n;
    Activation activation;
    std::uint32_t allocated_k = k;  // as in MatmulS8
};

struct KernelSet {
    std::string_view name;                     // as in select_kernel(): "scalar", "avx2", ...
    Packing packing;                           // the layout of weights that this set reads
    std::uint8_t encoded_row_bytes_per_value;  // of a row's encoding and what lies beside it
    bool (*usable)() noexcept;                 // true where this CPU and its operating system can run the set

    // Computes the output columns [16 * first_panel, min(16 * last_panel, n)) of every row.
    void (*matmul_s8)(const MatmulS8&, std::uint32_t first_panel, std::uint32_t last_panel) noexcept;
    void (*matmul_f32)(const MatmulF32&, std::uint32_t first_panel, std::uint32_t last_panel) noexcept;

    // Quantizes one row: m = max |x|; m < 2^-40: q = 0, scale 0; else r = 127.0f / m, q = rne(x * r), scale = m *
    // (1/127). Writes q in the set's encoding with zero padding to `encoded`, returns the scale.
    float (*quantize_row)(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept;
    // The same as plain s8 values [n], without padding: what the packers of keys and values read.
    float (*quantize_row_s8)(const float* x, std::uint32_t n, std::int8_t* q) noexcept;

    // y = LayerNorm(x): mu = sum(x) * (1/n); d = x - mu; v = sum(d * d) * (1/n); r = 1 / sqrt(v + eps);
    // y = (d * r) * gamma + beta. `inverse_n` is 1/n computed in float64 and rounded once. y may be x; they do not
    // overlap otherwise.
    void (*layer_norm_row)(const float* x, float* y, std::uint32_t n, const float* gamma, const float* beta,
                           float epsilon, float inverse_n) noexcept;
    // y = RMSNorm(x): v = sum(x * x) * (1/n); y = (x * (1 / sqrt(v + eps))) * gamma. As above.
    void (*rms_norm_row)(const float* x, float* y, std::uint32_t n, const float* gamma, float epsilon,
                         float inverse_n) noexcept;

    // The attention and label softmax's first half, in place: t[j] = exp2(t[j] - max t); returns the row sum. n >= 1.
    float (*exp2_row)(float* t, std::uint32_t n) noexcept;
    // The same of t[j] = x[j] * factor, whose largest is largest * factor, without writing: the row sum alone.
    float (*exp2_sum)(const float* x, std::uint32_t n, float factor, float largest) noexcept;
    // max x[j]; n >= 1.
    float (*largest_value)(const float* x, std::uint32_t n) noexcept;
    // The s8 recipe's probabilities: w[j] = e[j] * value_scales[j] in place, M = max w, p[j] = rne(w[j] * (127 / M)) in
    // the set's encoding with zero padding; M < 2^-40: all 0. Returns M.
    float (*quantize_probabilities)(float* e, const float* value_scales, std::uint32_t n,
                                    std::uint8_t* encoded) noexcept;

    // x = activation(x) in place.
    void (*activate_row)(Activation activation, float* x, std::uint32_t n) noexcept;

    // Weights of 4 bits: one of two functions, or both; a set that has not one has null there.
    // The s8 weights that they stand for, to be multiplied by matmul_s8: `n` outputs of k inputs, padding included, in
    // the set's packing. q and factors begin at a panel in Packing::panel, at an output in Packing::rows, where q and
    // expanded are aligned to 4 bytes.
    void (*expand_s4)(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
                      std::int8_t* expanded) noexcept;
    // As matmul_s8; m.weights are their q, packed for k inputs. For few rows, which would not pay for expanding.
    void (*matmul_s4)(const MatmulS8&, const std::uint8_t* factors, std::uint32_t first_panel,
                      std::uint32_t last_panel) noexcept = nullptr;
    // Of a set that has both: up to how many rows matmul_s4 is the faster.
    std::uint32_t matmul_s4_rows = 0;

    // Of a model of which no block keeps its values in the second cache, the most rows of a block; 0: all.
    std::uint32_t block_rows = 0;

    // As matmul_s8, of weights in [-63, 63]. Null: they are no case of their own.
    void (*matmul_s7)(const MatmulS8&, std::uint32_t first_panel, std::uint32_t last_panel) noexcept = nullptr;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
