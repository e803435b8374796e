// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits to s8 panels. Included inside the namespace of each vector set, behind its kVectorBytes.
//
// 64 bytes hold 8 k of a panel: the low nibbles are its 64 weights of the first 4 k as a panel has them, the high ones
// those of the next 4. Vectors are the compiler's own, 16-bit words for the products: no instruction set here
// multiplies bytes, and the low byte of a product depends on nothing but low bytes.

typedef std::uint8_t Bytes __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
typedef std::uint16_t Words __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
constexpr unsigned kVectors = 64 / kVectorBytes;

// The low nibble of each byte, as a number in [-8, 7], times the factor in both words of its output.
ETCH_INLINE Words scale_low_nibbles(Words nibbles, Words factors) noexcept {
    const Words eights = factors * 0 + 0x0808;
    const Bytes signs = reinterpret_cast<Bytes>((nibbles & 0x0F0F) ^ eights);
    const Words q = reinterpret_cast<Words>(signs - reinterpret_cast<Bytes>(eights));
    return (q * factors & 0x00FF) | ((q & 0xFF00) * factors);
}

void expand_s4(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
               std::int8_t* expanded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExpandS4);
    for (std::uint32_t panel = 0; panel * 16 < n; ++panel) {
        for (std::uint32_t group = 0; group < k; group += kS4Group) {
            std::uint32_t twice[16];  // the factor of each output in two words
            for (unsigned i = 0; i < 16; ++i)
                twice[i] = factors[i] * 0x00010001u;
            factors += 16;
            Words by[kVectors];
            std::memcpy(by, twice, sizeof by);
            for (std::uint32_t i = group; i < k && i < group + kS4Group; i += 8) {
                const bool whole = k - i > 4;
                ETCH_UNROLL
                for (unsigned v = 0; v < kVectors; ++v) {
                    const Words nibbles = *reinterpret_cast<const Words*>(q + v * kVectorBytes);
                    std::int8_t* const to = expanded + v * kVectorBytes;
                    *reinterpret_cast<Words*>(to) = scale_low_nibbles(nibbles, by[v]);
                    if (whole) *reinterpret_cast<Words*>(to + 64) = scale_low_nibbles(nibbles >> 4, by[v]);
                }
                q += 64;
                expanded += whole ? 128 : 64;
            }
        }
    }
}
