// SPDX-License-Identifier: Apache-2.0
// Operands of the tensor cores' product of 16 x 16 by 16 x 8 bf16 (PTX mma.m16n8k16) as its lanes hold them, two values
// in a word, the first in the lower half. With g = lane / 4 and t = lane % 4:
//     Left   [16][16]  words[0]: row g, columns 2t, 2t + 1; words[1]: row g + 8; words[2], words[3]: columns + 8
//     Right  [16][8]   words[0]: rows 2t, 2t + 1 of column g; words[1]: rows + 8
//     Sums   [16][8]   of[0], of[1]: row g, columns 2t, 2t + 1; of[2], of[3]: row g + 8
#pragma once

#include <cstdint>

#include "bf16.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

struct Left {
    std::uint32_t words[4];
};

struct Right {
    std::uint32_t words[2];
};

struct Sums {
    float of[4];
};

// Neighbouring bf16, two in a word.
template <std::uint32_t kWords>
struct Words {
    std::uint32_t words[kWords];
};

// 4-byte words from an address that is a multiple of their size, or of 16 bytes where there are more.
template <std::uint32_t kWords>
ETCH_DEVICE inline Words<kWords> load_words(const Bf16* from) noexcept {
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

ETCH_DEVICE inline std::uint32_t pack_bf16(float low, float high) noexcept {
#ifdef __CUDA_ARCH__
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return __bfloat16_as_ushort(both.x) | static_cast<std::uint32_t>(__bfloat16_as_ushort(both.y)) << 16;
#else
    return to_bf16(low).bits | static_cast<std::uint32_t>(to_bf16(high).bits) << 16;
#endif
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
