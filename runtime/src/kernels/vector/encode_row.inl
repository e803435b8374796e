// SPDX-License-Identifier: Apache-2.0
// What quantizes a row of f32: n consecutive floats, any alignment, any n >= 1, to kEncodedBytes each. Included inside
// the namespace of each kernel set, behind its store_bytes.

ETCH_INLINE float largest_magnitude(const float* x, std::uint32_t n) noexcept {
    Floats largest = all<Floats>(0.0f);
    for_each_16(
        n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY { largest = max(absolute(lanes.read(x + i)), largest); });
    return largest_of(largest);
}

// Encodes n values rne(x * factor), 16 at a time by encode(values, where to).
template <class Encode>
ETCH_INLINE void encode_row(const float* x, std::uint32_t n, float factor, std::uint8_t* encoded,
                            Encode encode) noexcept {
    const Floats factors = all<Floats>(factor);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        encode(mul(lanes.read(x + i), factors), encoded + std::size_t{kEncodedBytes} * i);
    });
}

template <class Encode>
ETCH_INLINE float quantize_row_by(const float* x, std::uint32_t n, std::uint8_t* encoded, Encode encode) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeRow);
    const scalar::Quantization to = scalar::quantization_of(largest_magnitude(x, n));
    encode_row(x, n, to.factor, encoded, encode);
    return to.scale;
}

template <class Encode>
ETCH_INLINE float quantize_probabilities_by(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded,
                                            Encode encode) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeProbabilities);
    Floats largest = all<Floats>(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats w = mul(lanes.read(e + i), lanes.read(value_scales + i));
        lanes.write(e + i, w);
        largest = max(w, largest);
    });
    encode_row(e, n, scalar::quantization_of(largest_of(largest)).factor, encoded, encode);
    return largest_of(largest);
}

// Encodes 16 values rne(x), |x| <= 127, as they are, a byte each.
struct EncodePlain {
    ETCH_INLINE void operator()(Floats x, std::uint8_t* encoded) const noexcept {
        store_bytes(reinterpret_cast<std::int8_t*>(encoded), x, AllLanes<Floats>{});
    }
};
