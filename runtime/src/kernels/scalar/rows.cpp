// SPDX-License-Identifier: Apache-2.0
// Operations along one row of f32: quantization, norms, the softmax of attention and of labels.
//
// A row is n consecutive floats, any alignment, any n >= 1. Encoded rows are plain s8 values [n] followed by zeros up
// to a multiple of kEncodedPadding.
#include <cstddef>

#include "../call_count.hpp"
#include "../row_sum.hpp"
#include "../square_root.hpp"
#include "quantization.hpp"
#include "scalar.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace scalar {
namespace {

float largest_magnitude(const float* x, std::uint32_t n) noexcept {
    float largest = 0.0f;
    for (std::uint32_t i = 0; i < n; ++i) {
        const float magnitude = absolute(x[i]);
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

float largest_of(const float* x, std::uint32_t n) noexcept {
    float largest = x[0];
    for (std::uint32_t i = 1; i < n; ++i)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

// q[i] = rne(x[i] * factor); with factor 0 all are 0.
void round_row(const float* x, std::uint32_t n, float factor, std::int8_t* q) noexcept {
    for (std::uint32_t i = 0; i < n; ++i)
        q[i] = static_cast<std::int8_t>(round_to_int(x[i] * factor));
}

float quantize(const float* x, std::uint32_t n, std::int8_t* q) noexcept {
    const Quantization to = quantization_of(largest_magnitude(x, n));
    round_row(x, n, to.factor, q);
    return to.scale;
}

void pad(std::int8_t* q, std::uint32_t n) noexcept {
    for (std::size_t i = n; i < round_up(n, kEncodedPadding); ++i)
        q[i] = 0;
}

}  // namespace

float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountQuantizeRow);
    std::int8_t* q = reinterpret_cast<std::int8_t*>(encoded);
    pad(q, n);
    return quantize(x, n, q);
}

float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountQuantizeRowS8);
    return quantize(x, n, q);
}

void layer_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
                    float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountLayerNormRow);
    RowSum sum;
    for (std::uint32_t i = 0; i < n; ++i)
        sum.add(i, x[i]);
    const float mean = sum.total() * inverse_n;

    RowSum squares;
    for (std::uint32_t i = 0; i < n; ++i) {
        y[i] = x[i] - mean;
        squares.add(i, y[i] * y[i]);
    }
    const float variance = squares.total() * inverse_n;

    const float r = 1.0f / square_root(variance + epsilon);
    for (std::uint32_t i = 0; i < n; ++i)
        y[i] = (y[i] * r) * gamma[i] + beta[i];
}

void rms_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, float epsilon,
                  float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountRmsNormRow);
    RowSum squares;
    for (std::uint32_t i = 0; i < n; ++i)
        squares.add(i, x[i] * x[i]);
    const float r = 1.0f / square_root(squares.total() * inverse_n + epsilon);
    for (std::uint32_t i = 0; i < n; ++i)
        y[i] = (x[i] * r) * gamma[i];
}

float exp2_row(float* t, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountExp2Row);
    const float largest = largest_of(t, n);
    RowSum sum;
    for (std::uint32_t i = 0; i < n; ++i) {
        t[i] = exp2(t[i] - largest);
        sum.add(i, t[i]);
    }
    return sum.total();
}

float exp2_sum(const float* x, std::uint32_t n, float factor, float largest) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountExp2Sum);
    RowSum sum;
    for (std::uint32_t i = 0; i < n; ++i)
        sum.add(i, exp2((x[i] * factor) - (largest * factor)));
    return sum.total();
}

float largest_value(const float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountLargestValue);
    return largest_of(x, n);
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountQuantizeProbabilities);
    float largest = 0.0f;
    for (std::uint32_t i = 0; i < n; ++i) {
        e[i] = e[i] * value_scales[i];
        largest = e[i] > largest ? e[i] : largest;
    }
    std::int8_t* q = reinterpret_cast<std::int8_t*>(encoded);
    pad(q, n);
    round_row(e, n, quantization_of(largest).factor, q);
    return largest;
}

}  // namespace scalar
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
