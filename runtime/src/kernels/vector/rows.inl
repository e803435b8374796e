// SPDX-License-Identifier: Apache-2.0
// Operations along one row of f32: n consecutive floats, any alignment, any n >= 1. Included inside the namespace of
// the sets that have them to themselves or share them, behind store_bytes and encoding.inl.

float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeRowS8);
    const scalar::Quantization to = scalar::quantization_of(largest_magnitude(x, n));
    const Floats factors = all<Floats>(to.factor);
    for_each_16(n, [&](std::uint32_t i, auto lanes)
                       ETCH_INLINE_BODY { store_bytes(q + i, mul(lanes.read(x + i), factors), lanes); });
    return to.scale;
}

void layer_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
                    float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountLayerNormRow);
    Floats sum = all<Floats>(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY { sum = add(sum, lanes.read(x + i)); });
    const Floats mean = all<Floats>(tree_sum(sum) * inverse_n);

    Floats squares = all<Floats>(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats d = lanes.keep(sub(lanes.read(x + i), mean));
        squares = add(squares, mul(d, d));
    });
    const float variance = tree_sum(squares) * inverse_n;

    const Floats r = all<Floats>(1.0f / square_root(variance + epsilon));
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats d = sub(lanes.read(x + i), mean);
        lanes.write(y + i, add(mul(mul(d, r), lanes.read(gamma + i)), lanes.read(beta + i)));
    });
}

void rms_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, float epsilon,
                  float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountRmsNormRow);
    Floats squares = all<Floats>(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats value = lanes.read(x + i);
        squares = add(squares, mul(value, value));
    });
    const Floats r = all<Floats>(1.0f / square_root(tree_sum(squares) * inverse_n + epsilon));
    for_each_16(n, [&](std::uint32_t i, auto lanes)
                       ETCH_INLINE_BODY { lanes.write(y + i, mul(mul(lanes.read(x + i), r), lanes.read(gamma + i))); });
}

ETCH_INLINE float largest_of_row(const float* x, std::uint32_t n) noexcept {
    Floats largest = all<Floats>(x[0]);
    for_each_16(n, [&](std::uint32_t i, auto lanes)
                       ETCH_INLINE_BODY { largest = max(lanes.read_or(x + i, largest), largest); });
    return largest_of(largest);
}

float largest_value(const float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountLargestValue);
    return largest_of_row(x, n);
}

float exp2_sum(const float* x, std::uint32_t n, float factor, float largest) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExp2Sum);
    const Floats factors = all<Floats>(factor);
    const Floats subtrahend = all<Floats>(largest * factor);
    Floats sum = all<Floats>(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        sum = add(sum, lanes.keep(exp2(sub(mul(lanes.read(x + i), factors), subtrahend))));
    });
    return tree_sum(sum);
}

float exp2_row(float* t, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExp2Row);
    const Floats subtrahend = all<Floats>(largest_of_row(t, n));

    Floats sum = all<Floats>(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats e = lanes.keep(exp2(sub(lanes.read(t + i), subtrahend)));
        lanes.write(t + i, e);
        sum = add(sum, e);
    });
    return tree_sum(sum);
}
