// SPDX-License-Identifier: Apache-2.0
// Operations along one row of f32: n consecutive floats, any alignment, any n >= 1. Included inside the namespace of
// each kernel set, behind the set's encoding of quantized values: encode_16, store_bytes.

ETCH_INLINE float largest_magnitude(const float* x, std::uint32_t n) noexcept {
    Floats largest = all<Floats>(0.0f);
    for_each_16(
        n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY { largest = max(absolute(lanes.read(x + i)), largest); });
    return largest_of(largest);
}

// 127 / largest; 0 for a row that is quantized to zeros.
ETCH_INLINE float quantizing_factor(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : 127.0f / largest;
}

ETCH_INLINE float scale_of(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : largest * polynomials::kInverse127;
}

// Encodes n values rne(x * factor).
ETCH_INLINE void encode_row(const float* x, std::uint32_t n, float factor, std::uint8_t* encoded) noexcept {
    const Floats factors = all<Floats>(factor);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        encode_16(mul(lanes.read(x + i), factors), encoded + std::size_t{kEncodedBytes} * i);
    });
}

float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeRow);
    const float largest = largest_magnitude(x, n);
    encode_row(x, n, quantizing_factor(largest), encoded);
    return scale_of(largest);
}

float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeRowS8);
    const float largest = largest_magnitude(x, n);
    const Floats factors = all<Floats>(quantizing_factor(largest));
    for_each_16(n, [&](std::uint32_t i, auto lanes)
                       ETCH_INLINE_BODY { store_bytes(q + i, mul(lanes.read(x + i), factors), lanes); });
    return scale_of(largest);
}

void layer_norm_row(float* x, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
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
        lanes.write(x + i, add(mul(mul(d, r), lanes.read(gamma + i)), lanes.read(beta + i)));
    });
}

float exp2_row(float* t, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExp2Row);
    Floats largest = all<Floats>(t[0]);
    for_each_16(n, [&](std::uint32_t i, auto lanes)
                       ETCH_INLINE_BODY { largest = max(lanes.read_or(t + i, largest), largest); });
    const Floats subtrahend = all<Floats>(largest_of(largest));

    Floats sum = all<Floats>(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats e = lanes.keep(exp2(sub(lanes.read(t + i), subtrahend)));
        lanes.write(t + i, e);
        sum = add(sum, e);
    });
    return tree_sum(sum);
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeProbabilities);
    Floats largest = all<Floats>(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats w = mul(lanes.read(e + i), lanes.read(value_scales + i));
        lanes.write(e + i, w);
        largest = max(w, largest);
    });
    encode_row(e, n, quantizing_factor(largest_of(largest)), encoded);
    return largest_of(largest);
}
