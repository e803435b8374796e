// SPDX-License-Identifier: Apache-2.0
// Conversion of floats to bytes. Included inside the namespace of rvv.

typedef std::int8_t ByteLanes __attribute__((vector_size(16)));

// rne(x), |x| <= 127: the shifter's sum has it in its low bits.
ETCH_INLINE ByteLanes round_to_bytes(Floats x) noexcept {
    return __builtin_convertvector(bits_of(add(x, all(polynomials::kShifter))), ByteLanes);
}

template <class Lanes>
ETCH_INLINE void store_bytes(std::int8_t* q, Floats x, const Lanes& lanes) noexcept {
    const ByteLanes bytes = round_to_bytes(x);
    if constexpr (std::is_same_v<Lanes, FirstLanes>) {
        std::int8_t values[16];
        std::memcpy(values, &bytes, sizeof values);
        lanes.write_bytes(q, values);
    } else {
        std::memcpy(q, &bytes, sizeof bytes);
    }
}

// The encoding of a quantized row: plain s8 values, zeros up to a multiple of kEncodedPadding.
constexpr std::uint8_t kEncodedBytes = 1;

ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    const ByteLanes bytes = round_to_bytes(x);
    std::memcpy(encoded, &bytes, sizeof bytes);
}
