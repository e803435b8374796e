// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by smlad, tiles of 4 rows x 1 column. Included inside the namespace of dsp.
//
// a       [rows][k], plain s8; zeros up to a multiple of kEncodedPadding values; 4-byte aligned.
// weights [n][allocated_k] s8 in Packing::rows, made by codegen/pack or by the Pack ops for keys and values;
//         4-byte aligned.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (1 has its own tile, 2 and 3 are computed as 4), any n, any k.
//
// smlad wants pairs of int16: of 4 neighbouring bytes, sxtb16 makes the pair of the first and third, and after a
// rotation that of the others. The rows of a tile are widened once, kChunk values at a time, and lie interleaved, so
// that one ldm brings what four smlad need: 13 instructions for 16 products. The sums of a group of columns wait on the
// stack for the next chunk.

constexpr std::uint32_t kTileRows = 4;
constexpr std::uint32_t kChunk = 128;

// Four rows, [kChunk / 4][even k, odd k][row] pairs of int16.
struct WideRows {
    std::uint32_t pairs[kChunk / 4][2][kTileRows];
};

ETCH_INLINE std::uint32_t load_word(const void* p) noexcept {
    typedef std::uint32_t Word __attribute__((may_alias));
    return *static_cast<const Word*>(__builtin_assume_aligned(p, 4));
}
ETCH_INLINE std::uint32_t even_pair(std::uint32_t bytes) noexcept {
    std::uint32_t pair;
    asm("sxtb16 %0, %1" : "=r"(pair) : "r"(bytes));
    return pair;
}
ETCH_INLINE std::uint32_t odd_pair(std::uint32_t bytes) noexcept {
    std::uint32_t pair;
    asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(bytes));
    return pair;
}
ETCH_INLINE std::int32_t multiply_add(std::uint32_t a, std::uint32_t b, std::int32_t sum) noexcept {
    std::int32_t result;
    asm("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

// `count` values, a multiple of 4, of four rows.
ETCH_NOINLINE void widen(const std::uint8_t* const (&rows)[kTileRows], std::uint32_t count, WideRows& wide) noexcept {
    const std::uint8_t* row[kTileRows] = {rows[0], rows[1], rows[2], rows[3]};
    for (std::uint32_t i = 0; i < count / 4; ++i) {
        std::uint32_t(&pairs)[2][kTileRows] = wide.pairs[i];
        ETCH_UNROLL
        for (unsigned r = 0; r < kTileRows; ++r) {
            const std::uint32_t bytes = load_word(row[r]);
            row[r] += 4;
            pairs[0][r] = even_pair(bytes);
            pairs[1][r] = odd_pair(bytes);
        }
    }
}

// sums[0 .. 3] = what they are, or 0 in the first chunk, + the products of four rows by a column, `count` values, a
// multiple of 16.
ETCH_INLINE void multiply_4(const WideRows& rows, const std::int8_t* weights, std::uint32_t count, bool first_chunk,
                            std::int32_t (&sums)[kTileRows]) noexcept {
    register std::int32_t sum0 asm("r9") = first_chunk ? 0 : sums[0];
    register std::int32_t sum1 asm("r10") = first_chunk ? 0 : sums[1];
    register std::int32_t sum2 asm("r11") = first_chunk ? 0 : sums[2];
    register std::int32_t sum3 asm("lr") = first_chunk ? 0 : sums[3];
    const std::int8_t* const end = weights + count;
    const std::uint32_t* pairs = &rows.pairs[0][0][0];
    // clang-format off
#define ETCH_DSP_FOUR                     \
    "ldr    r3, [%[w]], #4          \n\t" \
    "ldmia  %[a]!, {r4, r5, r6, r8} \n\t" \
    "sxtb16 r12, r3                 \n\t" \
    "smlad  r9, r4, r12, r9         \n\t" \
    "smlad  r10, r5, r12, r10       \n\t" \
    "smlad  r11, r6, r12, r11       \n\t" \
    "smlad  lr, r8, r12, lr         \n\t" \
    "ldmia  %[a]!, {r4, r5, r6, r8} \n\t" \
    "sxtb16 r12, r3, ror #8         \n\t" \
    "smlad  r9, r4, r12, r9         \n\t" \
    "smlad  r10, r5, r12, r10       \n\t" \
    "smlad  r11, r6, r12, r11       \n\t" \
    "smlad  lr, r8, r12, lr         \n\t"
    asm volatile(
        "0:                        \n\t"
        ETCH_DSP_FOUR ETCH_DSP_FOUR ETCH_DSP_FOUR ETCH_DSP_FOUR
        "cmp    %[w], %[e]         \n\t"
        "bne    0b                 \n\t"
        : [w] "+r"(weights), [a] "+r"(pairs), "+r"(sum0), "+r"(sum1), "+r"(sum2), "+r"(sum3)
        : [e] "r"(end)
        : "r3", "r4", "r5", "r6", "r8", "r12", "cc", "memory");
#undef ETCH_DSP_FOUR
    // clang-format on
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}

// The sums of one row by a column.
ETCH_INLINE std::int32_t multiply_1(const std::uint8_t* a, const std::int8_t* weights, std::uint32_t k) noexcept {
    std::int32_t sum = 0;
    for (std::uint32_t i = 0; i < k; i += 16) {
        ETCH_UNROLL
        for (std::uint32_t j = 0; j < 16; j += 4) {
            const std::uint32_t values = load_word(a + i + j);
            const std::uint32_t w = load_word(weights + i + j);
            sum = multiply_add(even_pair(values), even_pair(w), sum);
            sum = multiply_add(odd_pair(values), odd_pair(w), sum);
        }
    }
    return sum;
}

ETCH_INLINE float to_float(const std::int32_t& x) noexcept {
#if defined(__ARM_FP)
    // Loaded where it is converted; GCC 12 goes through a general register.
    float bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    asm("vcvt.f32.s32 %0, %0" : "+t"(bits));
    return bits;
#else
    return static_cast<float>(x);
#endif
}

// The outputs of four rows from `row` on and the columns [column, column + count), where out holds the residual, if
// there is one.
template <bool kResidual>
ETCH_NOINLINE void finish_4(const MatmulS8& m, std::uint32_t row, std::uint32_t column, std::uint32_t count,
                            const std::int32_t (*sums)[kTileRows]) noexcept {
    const float* scales = scales_of(m, column);
    const float* const end = scales + count;
    const float* bias = bias_of(m, column);
    float* out[kTileRows];
    float row_scales[kTileRows];
    ETCH_UNROLL
    for (unsigned r = 0; r < kTileRows; ++r) {
        out[r] = m.out + (row + r) * m.out_stride + column;
        row_scales[r] = m.a.scales[row + r];
    }
    for (; scales != end; ++scales, ++bias, ++sums) {
        ETCH_UNROLL
        for (unsigned r = 0; r < kTileRows; ++r) {
            const float y = (to_float((*sums)[r]) * row_scales[r]) * *scales + *bias;
            *out[r] = kResidual ? y + *out[r] : y;
            ++out[r];
        }
    }
}

// Of `row_count` rows.
ETCH_INLINE void finish_rows(const MatmulS8& m, std::uint32_t row, std::uint32_t row_count, std::uint32_t column,
                             std::uint32_t count, const std::int32_t (&sums)[kGroup][kTileRows]) noexcept {
    if (row_count == kTileRows && m.residual == nullptr) {
        finish_4<false>(m, row, column, count, sums);
        if (m.activation == Activation::none) return;
        for (std::uint32_t r = 0; r < row_count; ++r)
            apply_activation(m.activation, m.out + (row + r) * m.out_stride + column, count);
        return;
    }
    if (row_count == kTileRows && m.residual == m.out && m.activation == Activation::none)
        return finish_4<true>(m, row, column, count, sums);
    for (std::uint32_t r = 0; r < row_count; ++r)
        finish_s8<kTileRows>(m, row + r, column, count, &sums[0][r]);
}

// The columns of a table of s8, k with padding.
struct Columns8 {
    const std::int8_t* weights;
    std::uint32_t k;
    std::uint32_t stride;  // bytes from one column to the next

    ETCH_INLINE std::int32_t row(const std::uint8_t* a, std::uint32_t column) const noexcept {
        return multiply_1(a, weights + std::size_t{column} * stride, k);
    }
    // sums[i] of `count` columns, `used` values from `from` on.
    ETCH_INLINE void rows(const WideRows& wide, std::uint32_t column, std::uint32_t count, std::uint32_t from,
                          std::uint32_t used, std::int32_t (*sums)[kTileRows]) const noexcept {
        const std::int8_t* at = weights + std::size_t{column} * stride + from;
        for (std::uint32_t i = 0; i < count; ++i, at += stride)
            multiply_4(wide, at, used, from == 0, sums[i]);
    }
};

template <class Columns>
ETCH_NOINLINE void multiply_row(const MatmulS8& m, Columns columns, std::uint32_t row, std::uint32_t first_panel,
                                std::uint32_t last_panel) noexcept {
    const std::uint8_t* const a = m.a.data + row * m.a.stride_bytes;
    for_each_group(first_panel, last_panel, m.n, [&](std::uint32_t column, std::uint32_t count) ETCH_INLINE_BODY {
        std::int32_t sums[kGroup];
        for (std::uint32_t i = 0; i < count; ++i)
            sums[i] = columns.row(a, column + i);
        finish_s8<1>(m, row, column, count, sums);
    });
}

// `count` rows, 2 to 4, from `row` on.
template <class Columns>
ETCH_NOINLINE void multiply_rows(const MatmulS8& m, Columns columns, std::uint32_t row, std::uint32_t row_count,
                                 std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    const std::uint32_t k = columns.k;
    WideRows wide;
    std::uint32_t widened = k;  // where the values in `wide` begin; at first nowhere
    for_each_group(first_panel, last_panel, m.n, [&](std::uint32_t column, std::uint32_t count) ETCH_INLINE_BODY {
        std::int32_t sums[kGroup][kTileRows];
        for (std::uint32_t from = 0; from < k; from += kChunk) {
            const std::uint32_t used = k - from < kChunk ? k - from : kChunk;
            if (widened != from) {
                const std::uint8_t* rows[kTileRows];
                for (unsigned r = 0; r < kTileRows; ++r)
                    rows[r] = m.a.data + (row + (r < row_count ? r : 0)) * m.a.stride_bytes + from;
                widen(rows, used, wide);
                widened = from;
            }
            columns.rows(wide, column, count, from, used, sums);
        }
        finish_rows(m, row, row_count, column, count, sums);
    });
}

template <class Columns>
ETCH_INLINE void multiply(const MatmulS8& m, Columns columns, std::uint32_t first_panel,
                          std::uint32_t last_panel) noexcept {
    std::uint32_t row = 0;
    while (m.rows - row >= 2) {
        const std::uint32_t count = m.rows - row < kTileRows ? m.rows - row : kTileRows;
        multiply_rows(m, columns, row, count, first_panel, last_panel);
        row += count;
    }
    if (row < m.rows) multiply_row(m, columns, row, first_panel, last_panel);
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    multiply(m, Columns8{m.weights, (m.k + 15) / 16 * 16, (m.allocated_k + 15) / 16 * 16}, first_panel, last_panel);
}
