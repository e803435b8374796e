// SPDX-License-Identifier: Apache-2.0
// Sixteen bytes at a time, where every CPU of the architecture can: x86-64. Elsewhere there is no such class, and what
// would use it goes byte by byte.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

class Bytes16 {
  public:
    explicit Bytes16(const void* bytes) noexcept : bytes_(_mm_loadu_si128(static_cast<const __m128i*>(bytes))) {}

    void store(void* bytes) const noexcept { _mm_storeu_si128(static_cast<__m128i*>(bytes), bytes_); }

    // One bit a byte, that of the first byte lowest.
    std::uint32_t equal_to(std::uint8_t byte) const noexcept { return bits(_mm_cmpeq_epi8(bytes_, all(byte))); }
    std::uint32_t between(std::uint8_t low, std::uint8_t high) const noexcept { return bits(within(low, high)); }

    // These bytes with the letters A to Z in lower case.
    Bytes16 lower_case() const noexcept {
        return Bytes16(_mm_or_si128(bytes_, _mm_and_si128(within('A', 'Z'), all(0x20))));
    }

  private:
    explicit Bytes16(__m128i bytes) noexcept : bytes_(bytes) {}

    static __m128i all(std::uint8_t byte) noexcept { return _mm_set1_epi8(static_cast<char>(byte)); }
    static std::uint32_t bits(__m128i bytes) noexcept { return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes)); }
    __m128i within(std::uint8_t low, std::uint8_t high) const noexcept {
        const __m128i above = _mm_sub_epi8(bytes_, all(low));
        return _mm_cmpeq_epi8(_mm_min_epu8(above, all(static_cast<std::uint8_t>(high - low))), above);
    }

    __m128i bytes_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
