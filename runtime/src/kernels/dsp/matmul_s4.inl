// SPDX-License-Identifier: Apache-2.0
// s8 x weights of 4 bits by smlad, in the tiles of matmul_s8.inl. Included inside the namespace of dsp.
//
// weights [n][k/32][16] in Packing::rows: byte i of a group holds k = i in its low nibble, k = 16 + i in its high one,
// and factors [n][k/32] (packing.hpp); 4-byte aligned.
//
// A nibble in the upper half of a byte is a byte of 16 times its value, and sxtb16 makes pairs of these as it does of
// weights of 8 bits: one or two instructions for 4 values are what 4 bits cost, and one for each row of a group to
// multiply its sums by the factor. 16 times the sums of kChunk values, |factor * q| <= 127, is far below 2^31.

static_assert(kChunk % kS4Group == 0);

// sums[0 .. 3] = what they are, or 0 in the first chunk, + the products of four rows by a column, of `groups` groups.
ETCH_INLINE void multiply_4_s4(const WideRows& rows, const std::int8_t* q, const std::uint8_t* factors,
                               std::uint32_t groups, bool first_chunk, std::int32_t (&sums)[kTileRows]) noexcept {
    std::int32_t total[kTileRows] = {0, 0, 0, 0};
    const std::uint32_t* pairs = &rows.pairs[0][0][0];
    do {
        register std::int32_t sum0 asm("r9");
        register std::int32_t sum1 asm("r10");
        register std::int32_t sum2 asm("r11");
        register std::int32_t sum3 asm("lr");
        // clang-format off
#define ETCH_DSP_ROWS                     \
    "ldmia  %[a]!, {r4, r5, r6, r8} \n\t"
#define ETCH_DSP_ADD                      \
    "smlad  r9, r4, r12, r9         \n\t" \
    "smlad  r10, r5, r12, r10       \n\t" \
    "smlad  r11, r6, r12, r11       \n\t" \
    "smlad  lr, r8, r12, lr         \n\t"
#define ETCH_DSP_BEGIN                    \
    "smuad  r9, r4, r12             \n\t" \
    "smuad  r10, r5, r12            \n\t" \
    "smuad  r11, r6, r12            \n\t" \
    "smuad  lr, r8, r12             \n\t"
#define ETCH_DSP_NIBBLES(load, nibbles, even) \
    "ldr    r3, " load "            \n\t" \
    nibbles "                       \n\t" \
    ETCH_DSP_ROWS                         \
    "sxtb16 r12, r3                 \n\t" \
    even                                  \
    ETCH_DSP_ROWS                         \
    "sxtb16 r12, r3, ror #8         \n\t" \
    ETCH_DSP_ADD
#define ETCH_DSP_LOW(at, even) ETCH_DSP_NIBBLES("[%[q], #" #at "]", "lsl r3, r3, #4 \n\t and r3, r3, #0xF0F0F0F0", even)
#define ETCH_DSP_HIGH ETCH_DSP_NIBBLES("[%[q]], #4", "and r3, r3, #0xF0F0F0F0", ETCH_DSP_ADD)
        asm volatile(
            ETCH_DSP_LOW(0, ETCH_DSP_BEGIN)
            ETCH_DSP_LOW(4, ETCH_DSP_ADD)
            ETCH_DSP_LOW(8, ETCH_DSP_ADD)
            ETCH_DSP_LOW(12, ETCH_DSP_ADD)
            ETCH_DSP_HIGH ETCH_DSP_HIGH ETCH_DSP_HIGH ETCH_DSP_HIGH
            : [q] "+r"(q), [a] "+r"(pairs), "=r"(sum0), "=r"(sum1), "=r"(sum2), "=r"(sum3)
            :
            : "r3", "r4", "r5", "r6", "r8", "r12", "memory");
#undef ETCH_DSP_ROWS
#undef ETCH_DSP_ADD
#undef ETCH_DSP_BEGIN
#undef ETCH_DSP_NIBBLES
#undef ETCH_DSP_LOW
#undef ETCH_DSP_HIGH
        // clang-format on
        const std::int32_t factor = *factors++;
        total[0] += factor * sum0;
        total[1] += factor * sum1;
        total[2] += factor * sum2;
        total[3] += factor * sum3;
    } while (--groups != 0);
    ETCH_UNROLL
    for (unsigned r = 0; r < kTileRows; ++r)
        sums[r] = (first_chunk ? 0 : sums[r]) + (total[r] >> 4);
}

// 16 times the products of 16 values of a row by nibbles in the upper halves of bytes.
template <class Nibbles>
ETCH_INLINE std::int32_t multiply_1_s4(const std::uint8_t* a, const std::int8_t* q, Nibbles nibbles) noexcept {
    std::int32_t sum = 0;
    ETCH_UNROLL
    for (std::uint32_t j = 0; j < 16; j += 4) {
        const std::uint32_t values = load_word(a + j);
        const std::uint32_t w = nibbles(load_word(q + j));
        sum = multiply_add(even_pair(values), even_pair(w), sum);
        sum = multiply_add(odd_pair(values), odd_pair(w), sum);
    }
    return sum;
}

// The columns of a table of 4 bits; k is a multiple of 16, as rows of activations are padded.
struct Columns4 {
    const std::int8_t* q;
    const std::uint8_t* factors;
    std::uint32_t k;

    ETCH_INLINE std::uint32_t groups() const noexcept { return (k + kS4Group - 1) / kS4Group; }
    ETCH_INLINE std::int32_t row(const std::uint8_t* a, std::uint32_t column) const noexcept {
        const std::int8_t* at = q + std::size_t{column} * groups() * 16;
        const std::uint8_t* factor = factors + std::size_t{column} * groups();
        std::int32_t sum = 0;
        for (std::uint32_t i = 0; i < k; i += kS4Group, at += 16) {
            std::int32_t part =
                multiply_1_s4(a + i, at, [](std::uint32_t w) ETCH_INLINE_BODY { return w << 4 & 0xF0F0F0F0u; });
            if (k - i > 16) {
                part += multiply_1_s4(a + i + 16, at, [](std::uint32_t w) ETCH_INLINE_BODY { return w & 0xF0F0F0F0u; });
            }
            sum += *factor++ * (part >> 4);
        }
        return sum;
    }
    // As of Columns8. Where only 16 values of a last group are used, the weights of the others are 0.
    ETCH_INLINE void rows(const WideRows& wide, std::uint32_t column, std::uint32_t count, std::uint32_t from,
                          std::uint32_t used, std::int32_t (*sums)[kTileRows]) const noexcept {
        const std::int8_t* at = q + std::size_t{column} * groups() * 16 + from / 2;
        const std::uint8_t* factor = factors + std::size_t{column} * groups() + from / kS4Group;
        for (std::uint32_t i = 0; i < count; ++i, at += groups() * 16, factor += groups())
            multiply_4_s4(wide, at, factor, (used + kS4Group - 1) / kS4Group, from == 0, sums[i]);
    }
};

void matmul_s4(const MatmulS8& m, const std::uint8_t* factors, std::uint32_t first_panel,
               std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    multiply(m, Columns4{m.weights, factors, (m.k + 15) / 16 * 16}, first_panel, last_panel);
}
