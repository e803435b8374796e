// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits to s8 rows, four weights in a word. Included inside the namespace of plain.

typedef std::uint32_t Word __attribute__((may_alias));

// q * factor in each byte, from q + 8 in its low nibble. Two products at a time are in the halves of a word: with 4096
// more they are never negative, at most 6,001, and a byte is left of each.
ETCH_INLINE Word scale_low_nibbles(Word nibbles, Word factor) noexcept {
    const Word offset = (4096 - 8 * factor) * 0x00010001u;
    const Word even = (nibbles & 0x000F000Fu) * factor + offset;
    const Word odd = (nibbles >> 8 & 0x000F000Fu) * factor + offset;
    return (even & 0x00FF00FFu) | (odd & 0x00FF00FFu) << 8;
}

void expand_s4(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
               std::int8_t* expanded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExpandS4);
    const Word* from = reinterpret_cast<const Word*>(q);
    Word* to = reinterpret_cast<Word*>(expanded);
    for (std::uint32_t output = 0; output < n; ++output) {
        for (std::uint32_t i = 0; i < k; i += kS4Group) {
            const Word factor = *factors++;
            const bool whole = k - i > 16;
            for (std::uint32_t word = 0; word < 4; ++word) {
                const Word nibbles = *from++ ^ 0x88888888u;
                to[word] = scale_low_nibbles(nibbles, factor);
                if (whole) to[word + 4] = scale_low_nibbles(nibbles >> 4, factor);
            }
            to += whole ? 8 : 4;
        }
    }
}
