// SPDX-License-Identifier: Apache-2.0
// A row of n floats, 4-byte aligned, any n >= 1, to s8. Included inside the namespaces of the sets of Packing::rows,
// behind their largest_magnitude, round_row and multiply_and_find_largest. Encoded rows are plain s8 values [n]
// followed by zeros up to a multiple of kEncodedPadding.

constexpr std::uint8_t kEncodedBytes = 1;

ETCH_INLINE void pad(std::int8_t* q, std::uint32_t n) noexcept {
    for (std::size_t i = n; i % kEncodedPadding != 0; ++i)
        q[i] = 0;
}

float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeRowS8);
    const scalar::Quantization to = scalar::quantization_of(largest_magnitude(x, n));
    round_row(x, n, to.factor, q);
    return to.scale;
}

float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeRow);
    std::int8_t* const q = reinterpret_cast<std::int8_t*>(encoded);
    const scalar::Quantization to = scalar::quantization_of(largest_magnitude(x, n));
    round_row(x, n, to.factor, q);
    pad(q, n);
    return to.scale;
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountQuantizeProbabilities);
    const float largest = multiply_and_find_largest(e, value_scales, n);
    std::int8_t* const q = reinterpret_cast<std::int8_t*>(encoded);
    round_row(e, n, scalar::quantization_of(largest).factor, q);
    pad(q, n);
    return largest;
}
