// SPDX-License-Identifier: Apache-2.0
// Conversion of floats to bytes, for the sets neon, neon_dotprod and neon_i8mm. Included inside their namespaces.

// rne(x), |x| <= 127, in order.
ETCH_INLINE int16x8_t round_to_words(Pair<Register> x) noexcept {
    return vcombine_s16(vmovn_s32(vcvtnq_s32_f32(x.low.lanes)), vmovn_s32(vcvtnq_s32_f32(x.high.lanes)));
}
ETCH_INLINE int8x16_t round_to_bytes(Floats x) noexcept {
    return vcombine_s8(vmovn_s16(round_to_words(x.low)), vmovn_s16(round_to_words(x.high)));
}

template <class Lanes>
ETCH_INLINE void store_bytes(std::int8_t* q, Floats x, const Lanes& lanes) noexcept {
    if constexpr (std::is_same_v<Lanes, FirstLanes>) {
        std::int8_t values[16];
        vst1q_s8(values, round_to_bytes(x));
        lanes.write_bytes(q, values);
    } else {
        vst1q_s8(q, round_to_bytes(x));
    }
}

// The encoding of a quantized row: plain s8 values, zeros up to a multiple of kEncodedPadding.
constexpr std::uint8_t kEncodedBytes = 1;

ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    vst1q_s8(reinterpret_cast<std::int8_t*>(encoded), round_to_bytes(x));
}
