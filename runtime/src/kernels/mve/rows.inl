// SPDX-License-Identifier: Apache-2.0
// Operations along one row of f32: n consecutive floats, 4-byte aligned, any n >= 1. Included inside the namespace of
// mve.

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
