// SPDX-License-Identifier: Apache-2.0
// Rows of f32 to a set's own encoding of quantized values, one value like the other. Included inside the namespace of
// each kernel set, behind its encode_16.

#include "encode_row.inl"

struct Encode16 {
    ETCH_INLINE void operator()(Floats x, std::uint8_t* encoded) const noexcept { encode_16(x, encoded); }
};

float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept {
    return quantize_row_by(x, n, encoded, Encode16{});
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    return quantize_probabilities_by(e, value_scales, n, encoded, Encode16{});
}
