// SPDX-License-Identifier: Apache-2.0
// Operations along one row of f32: n consecutive floats, 4-byte aligned, any n >= 1. Included inside the namespace of
// mve. Encoded rows are plain s8 values [n] followed by zeros up to a multiple of kEncodedPadding.

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

void layer_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
                    float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountLayerNormRow);
    const float mean =
        row_sum(n, [x](std::uint32_t i, auto lanes) ETCH_INLINE_BODY { return lanes.read(x + i); }) * inverse_n;
    const float variance = row_sum(n,
                                   [x, mean](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
                                       const Floats d = lanes.keep(vsubq_n_f32(lanes.read(x + i), mean));
                                       return vmulq_f32(d, d);
                                   }) *
                           inverse_n;
    normalize(x, y, gamma, beta, n, mean, 1.0f / square_root(variance + epsilon));
}

void rms_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, float epsilon,
                  float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountRmsNormRow);
    const float squares = row_sum(n, [x](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats value = lanes.read(x + i);
        return vmulq_f32(value, value);
    });
    const float r = 1.0f / square_root(squares * inverse_n + epsilon);
    for_each_4(n, [=](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        lanes.write(y + i, vmulq_f32(vmulq_n_f32(lanes.read(x + i), r), lanes.read(gamma + i)));
    });
}

float largest_value(const float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountLargestValue);
    return largest_value(x, n, x[0]);
}

float exp2_sum(const float* x, std::uint32_t n, float factor, float largest) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExp2Sum);
    const float subtrahend = largest * factor;
    return row_sum(n, [x, factor, subtrahend](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        return lanes.keep(exp2(vsubq_n_f32(vmulq_n_f32(lanes.read(x + i), factor), subtrahend)));
    });
}

float exp2_row(float* t, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExp2Row);
    const float subtrahend = largest_value(t, n, t[0]);
    return row_sum(n, [t, subtrahend](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats e = lanes.keep(exp2(vsubq_n_f32(lanes.read(t + i), subtrahend)));
        lanes.write(t + i, e);
        return e;
    });
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeProbabilities);
    const float largest = multiply_and_find_largest(e, value_scales, n);
    std::int8_t* const q = reinterpret_cast<std::int8_t*>(encoded);
    round_row(e, n, quantizing_factor(largest), q);
    pad(q, n);
    return largest;
}
