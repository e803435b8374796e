// SPDX-License-Identifier: Apache-2.0
// Several values at a time: words of 32 bits, in each a float or two bf16, the first in the lower half.
#pragma once

#include <cstdint>

#include "bf16.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

template <std::uint32_t kWords>
struct Words {
    std::uint32_t words[kWords];
};

// Words from an address that is a multiple of 16 bytes, or of 8 where there are two, of 4 where there is one.
template <std::uint32_t kWords, class T>
ETCH_DEVICE inline Words<kWords> load_words(const T* from) noexcept {
    Words<kWords> to;
#ifdef __CUDA_ARCH__
    if constexpr (kWords % 4 == 0) {
#pragma unroll
        for (std::uint32_t i = 0; i < kWords / 4; ++i) {
            const uint4 four = reinterpret_cast<const uint4*>(from)[i];
            to.words[4 * i] = four.x;
            to.words[4 * i + 1] = four.y;
            to.words[4 * i + 2] = four.z;
            to.words[4 * i + 3] = four.w;
        }
    } else if constexpr (kWords == 1) {
        to.words[0] = *reinterpret_cast<const std::uint32_t*>(from);
    } else {
        static_assert(kWords == 2);
        const uint2 two = *reinterpret_cast<const uint2*>(from);
        to.words[0] = two.x;
        to.words[1] = two.y;
    }
#else
    __builtin_memcpy(to.words, from, sizeof to.words);
#endif
    return to;
}

struct Four {
    float of[4];
};

// Of numbers: one instruction on the device, where a comparison and a choice are two.
ETCH_DEVICE inline float larger(float a, float b) noexcept {
#ifdef __CUDA_ARCH__
    return fmaxf(a, b);
#else
    return a > b ? a : b;
#endif
}

ETCH_DEVICE inline std::uint32_t log2_of(std::uint32_t power_of_two) noexcept {
#ifdef __CUDA_ARCH__
    return 31 - __clz(power_of_two);
#else
    return 31 - static_cast<std::uint32_t>(__builtin_clz(power_of_two));
#endif
}

// From an address that is a multiple of 16 bytes.
ETCH_DEVICE inline Four load_four(const float* from) noexcept {
    const auto words = load_words<4>(from);
    return {{scalar::from_bits(words.words[0]), scalar::from_bits(words.words[1]), scalar::from_bits(words.words[2]),
             scalar::from_bits(words.words[3])}};
}

// To a multiple of 16 bytes.
template <class T>
ETCH_DEVICE inline void store_words(const Words<4>& words, T* to) noexcept {
#ifdef __CUDA_ARCH__
    *reinterpret_cast<uint4*>(to) = {words.words[0], words.words[1], words.words[2], words.words[3]};
#else
    __builtin_memcpy(to, words.words, sizeof words.words);
#endif
}

// To a multiple of 16 bytes.
ETCH_DEVICE inline void store_four(const Four& four, float* to) noexcept {
    store_words(Words<4>{{scalar::bits_of(four.of[0]), scalar::bits_of(four.of[1]), scalar::bits_of(four.of[2]),
                          scalar::bits_of(four.of[3])}},
                to);
}

// Each in [-128, 127], to a multiple of 4 bytes.
ETCH_DEVICE inline void store_four(const std::int32_t (&values)[4], std::int8_t* to) noexcept {
#ifdef __CUDA_ARCH__
    *reinterpret_cast<char4*>(to) = {static_cast<signed char>(values[0]), static_cast<signed char>(values[1]),
                                     static_cast<signed char>(values[2]), static_cast<signed char>(values[3])};
#else
    for (std::uint32_t i = 0; i < 4; ++i)
        to[i] = static_cast<std::int8_t>(values[i]);
#endif
}

ETCH_DEVICE inline float lower_float(std::uint32_t word) noexcept {
    return scalar::from_bits(word << 16);
}
ETCH_DEVICE inline float upper_float(std::uint32_t word) noexcept {
    return scalar::from_bits(word & 0xFFFF0000u);
}

ETCH_DEVICE inline std::uint32_t pack_bf16(float low, float high) noexcept {
#ifdef __CUDA_ARCH__
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return __bfloat16_as_ushort(both.x) | static_cast<std::uint32_t>(__bfloat16_as_ushort(both.y)) << 16;
#else
    return to_bf16(low).bits | static_cast<std::uint32_t>(to_bf16(high).bits) << 16;
#endif
}

// Bytes of two words, 0 to 3 those of `a`, 4 to 7 those of `b`: which ones, hexadecimal digits say, the last that of
// the lowest byte.
ETCH_DEVICE inline std::uint32_t pick_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t which) noexcept {
#ifdef __CUDA_ARCH__
    return __byte_perm(a, b, which);
#else
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    std::uint32_t picked = 0;
    for (std::uint32_t i = 0; i < 4; ++i)
        picked |= static_cast<std::uint32_t>(both >> (which >> 4 * i & 7) * 8 & 0xFF) << 8 * i;
    return picked;
#endif
}

// The lowest byte of each.
ETCH_DEVICE inline std::uint32_t low_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                           std::uint32_t d) noexcept {
    return pick_bytes(pick_bytes(a, b, 0x0040), pick_bytes(c, d, 0x0040), 0x5410);
}

// Of a matrix of 4 x 4 bytes.
ETCH_DEVICE inline Words<4> transposed(const Words<4>& rows) noexcept {
    const std::uint32_t low_ab = pick_bytes(rows.words[0], rows.words[1], 0x5140);
    const std::uint32_t low_cd = pick_bytes(rows.words[2], rows.words[3], 0x5140);
    const std::uint32_t high_ab = pick_bytes(rows.words[0], rows.words[1], 0x7362);
    const std::uint32_t high_cd = pick_bytes(rows.words[2], rows.words[3], 0x7362);
    return {{pick_bytes(low_ab, low_cd, 0x5410), pick_bytes(low_ab, low_cd, 0x7632),
             pick_bytes(high_ab, high_cd, 0x5410), pick_bytes(high_ab, high_cd, 0x7632)}};
}

// Of two words the lower halves, or the upper ones.
ETCH_DEVICE inline std::uint32_t lower_halves(std::uint32_t a, std::uint32_t b) noexcept {
    return (a & 0xFFFFu) | b << 16;
}
ETCH_DEVICE inline std::uint32_t upper_halves(std::uint32_t a, std::uint32_t b) noexcept {
    return a >> 16 | (b & 0xFFFF0000u);
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
