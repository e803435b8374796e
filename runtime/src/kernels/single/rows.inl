// SPDX-License-Identifier: Apache-2.0
// Operations along one row of f32, one value at a time: n consecutive floats, 4-byte aligned, any n >= 1. For the sets
// plain and dsp, included inside their namespaces.

ETCH_NOINLINE float tree_sum(float (&partials)[16]) noexcept {
    for (unsigned half = 8; half != 0; half /= 2) {
        for (unsigned i = 0; i < half; ++i)
            partials[i] += partials[i + half];
    }
    return partials[0];
}

// The contract's sum along a row: 16 partials, in registers but for the row's end, then a tree. value(i) is the i-th.
template <class Value>
ETCH_INLINE float row_sum(std::uint32_t n, Value value) noexcept {
    float in_registers[16];
    ETCH_UNROLL
    for (float& each : in_registers)
        each = 0.0f;
    std::uint32_t i = 0;
    for (; n - i >= 16; i += 16) {
        ETCH_UNROLL
        for (std::uint32_t j = 0; j < 16; ++j)
            in_registers[j] += value(i + j);
    }
    float partials[16];
    ETCH_UNROLL
    for (unsigned j = 0; j < 16; ++j)
        partials[j] = in_registers[j];
    for (; i < n; ++i)
        partials[i % 16] += value(i);
    return tree_sum(partials);
}

void layer_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
                    float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountLayerNormRow);
    const float mean = row_sum(n, [x](std::uint32_t i) ETCH_INLINE_BODY { return x[i]; }) * inverse_n;
    const float variance = row_sum(n,
                                   [x, mean](std::uint32_t i) ETCH_INLINE_BODY {
                                       const float d = x[i] - mean;
                                       return d * d;
                                   }) *
                           inverse_n;
    const float r = 1.0f / square_root(variance + epsilon);
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 0; i < n; ++i)
        y[i] = ((x[i] - mean) * r) * gamma[i] + beta[i];
}

void rms_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, float epsilon,
                  float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountRmsNormRow);
    const float squares = row_sum(n, [x](std::uint32_t i) ETCH_INLINE_BODY { return x[i] * x[i]; });
    const float r = 1.0f / square_root(squares * inverse_n + epsilon);
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 0; i < n; ++i)
        y[i] = (x[i] * r) * gamma[i];
}

ETCH_INLINE float largest_of_row(const float* x, std::uint32_t n) noexcept {
    float largest = x[0];
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 1; i < n; ++i)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

float largest_value(const float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountLargestValue);
    return largest_of_row(x, n);
}

float exp2_sum(const float* x, std::uint32_t n, float factor, float largest) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExp2Sum);
    float partials[16] = {};
    for (std::uint32_t i = 0; i < n; ++i)
        partials[i % 16] += scalar::exp2((x[i] * factor) - (largest * factor));
    return tree_sum(partials);
}

float exp2_row(float* t, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExp2Row);
    const float largest = largest_of_row(t, n);
    for (std::uint32_t i = 0; i < n; ++i)
        t[i] = scalar::exp2(t[i] - largest);
    return row_sum(n, [t](std::uint32_t i) ETCH_INLINE_BODY { return t[i]; });
}

// x[i] = x[i] * y[i]; the largest of them, none of which is negative.
ETCH_INLINE float multiply_and_find_largest(float* x, const float* y, std::uint32_t n) noexcept {
    std::uint32_t largest_bits = 0;
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 0; i < n; ++i) {
        x[i] = x[i] * y[i];
        largest_bits = bits_of(x[i]) > largest_bits ? bits_of(x[i]) : largest_bits;
    }
    return from_bits(largest_bits);
}
