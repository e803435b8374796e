// SPDX-License-Identifier: Apache-2.0
// Operations along one row of f32, one value at a time: n consecutive floats, 4-byte aligned, any n >= 1. For the sets
// plain and dsp, included inside their namespaces, behind largest_magnitude and round_row. Encoded rows are plain s8
// values [n] followed by zeros up to a multiple of kEncodedPadding.

constexpr std::uint8_t kEncodedBytes = 1;

// 127 / largest; 0 for a row that is quantized to zeros.
ETCH_INLINE float quantizing_factor(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : 127.0f / largest;
}

ETCH_INLINE float scale_of(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : largest * polynomials::kInverse127;
}

ETCH_INLINE void pad(std::int8_t* q, std::uint32_t n) noexcept {
    for (std::size_t i = n; i % kEncodedPadding != 0; ++i)
        q[i] = 0;
}

float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeRowS8);
    const float largest = largest_magnitude(x, n);
    round_row(x, n, quantizing_factor(largest), q);
    return scale_of(largest);
}

float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeRow);
    std::int8_t* const q = reinterpret_cast<std::int8_t*>(encoded);
    const float largest = largest_magnitude(x, n);
    round_row(x, n, quantizing_factor(largest), q);
    pad(q, n);
    return scale_of(largest);
}

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

float largest_value(const float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountLargestValue);
    float largest = x[0];
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 1; i < n; ++i)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
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
    float largest = t[0];
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 1; i < n; ++i)
        largest = t[i] > largest ? t[i] : largest;
    for (std::uint32_t i = 0; i < n; ++i)
        t[i] = scalar::exp2(t[i] - largest);
    return row_sum(n, [t](std::uint32_t i) ETCH_INLINE_BODY { return t[i]; });
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeProbabilities);
    std::uint32_t largest_bits = 0;  // none is negative
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 0; i < n; ++i) {
        e[i] = e[i] * value_scales[i];
        largest_bits = bits_of(e[i]) > largest_bits ? bits_of(e[i]) : largest_bits;
    }
    const float largest = from_bits(largest_bits);
    std::int8_t* const q = reinterpret_cast<std::int8_t*>(encoded);
    round_row(e, n, quantizing_factor(largest), q);
    pad(q, n);
    return largest;
}
