// SPDX-License-Identifier: Apache-2.0
// s8 x weights of 4 bits by vmladava, tiles of 2 rows x 2 columns. Included inside the namespace of mve.
//
// weights [n][k/32][16] in Packing::rows: byte i of a group holds k = i in its low nibble, k = 16 + i in its high one,
// and factors [n][k/32] (packing.hpp); any alignment. Rows, columns and out as in matmul_s8.inl.
//
// Shifts and a multiplication by the factor make s8 weights of the nibbles in registers, once for both rows. The loop
// over tiles is in one asm statement: what the compiler does between two of them took a fifth of all instructions.

struct Columns4 {
    const std::int8_t* q;
    const std::uint8_t* factors;
    std::uint32_t k;  // a multiple of 16

    ETCH_INLINE std::uint32_t groups() const noexcept { return (k + kS4Group - 1) / kS4Group; }
};

// clang-format off
// A group of 32: the low nibbles, then the high ones.
#define ETCH_MVE_GROUP_S4 \
    "vldrb.u8 q0, [r1], #16    \n\t" \
    "vldrb.u8 q1, [r3], #16    \n\t" \
    "vldrb.u8 q2, [r5], #16    \n\t" \
    "ldrb r8, [r11], #1        \n\t" \
    "vshl.s8 q3, q2, #4        \n\t" \
    "vshr.s8 q3, q3, #4        \n\t" \
    "vmul.i8 q3, q3, r8        \n\t" \
    "vmladava.s8 r0, q0, q3    \n\t" \
    "vmladava.s8 r2, q1, q3    \n\t" \
    "vldrb.u8 q4, [r9], #16    \n\t" \
    "ldrb r10, [r12], #1       \n\t" \
    "vshl.s8 q3, q4, #4        \n\t" \
    "vshr.s8 q3, q3, #4        \n\t" \
    "vmul.i8 q3, q3, r10       \n\t" \
    "vmladava.s8 r4, q0, q3    \n\t" \
    "vmladava.s8 r6, q1, q3    \n\t" \
    "vldrb.u8 q0, [r1], #16    \n\t" \
    "vldrb.u8 q1, [r3], #16    \n\t" \
    "vshr.s8 q2, q2, #4        \n\t" \
    "vmul.i8 q2, q2, r8        \n\t" \
    "vmladava.s8 r0, q0, q2    \n\t" \
    "vmladava.s8 r2, q1, q2    \n\t" \
    "vshr.s8 q4, q4, #4        \n\t" \
    "vmul.i8 q4, q4, r10       \n\t" \
    "vmladava.s8 r4, q0, q4    \n\t" \
    "vmladava.s8 r6, q1, q4    \n\t"
// clang-format on

// The same of the columns [column, column + count), an even number, where k is a multiple of 32: without what the
// compiler does between two asm statements, a third of the instructions. What a turn of the outer loop needs is in s20
// to s24.
ETCH_NOINLINE void multiply_whole_groups(const std::uint8_t* row0, const std::uint8_t* row1, const Columns4& columns,
                                         std::uint32_t column, std::uint32_t count, Sums& sums) noexcept {
    const std::uint32_t groups = columns.groups();
    const std::int8_t* const begin = columns.q + std::size_t{column} * groups * 16;
    register const std::uint8_t* a0 asm("r1") = row0;
    register const std::uint8_t* a1 asm("r3") = row1;
    register const std::int8_t* q0 asm("r5") = begin;
    register const std::int8_t* q1 asm("r9") = begin + std::size_t{groups} * 16;
    register const std::uint8_t* factor0 asm("r11") = columns.factors + std::size_t{column} * groups;
    register const std::uint8_t* factor1 asm("r12") = factor0 + groups;
    register float to asm("s20") = from_bits(reinterpret_cast<std::uint32_t>(sums.rows[0]));
    register float k asm("s21") = from_bits(columns.k);
    register float q_stride asm("s22") = from_bits(groups * 16);
    register float turns asm("s23") = from_bits(groups);
    register float end asm("s24") =
        from_bits(reinterpret_cast<std::uint32_t>(begin + std::size_t{count} * groups * 16));
    // clang-format off
    asm volatile(
        "0:                        \n\t"
        "mov  r0, #0               \n\t"
        "mov  r2, #0               \n\t"
        "mov  r4, #0               \n\t"
        "mov  r6, #0               \n\t"
        "vmov lr, s23              \n\t"
        "dls  lr, lr               \n"
        "1:                        \n\t"
        ETCH_MVE_GROUP_S4
        "le   lr, 1b               \n\t"
        "vmov r8, s20              \n\t"
        "strd r2, r6, [r8, #576]   \n\t"
        "strd r0, r4, [r8], #8     \n\t"
        "vmov s20, r8              \n\t"
        "vmov r10, s21             \n\t"
        "sub  r1, r1, r10          \n\t"
        "sub  r3, r3, r10          \n\t"
        "mov  r5, r9               \n\t"
        "vmov r10, s22             \n\t"
        "add  r9, r9, r10          \n\t"
        "mov  r11, r12             \n\t"
        "vmov r10, s23             \n\t"
        "add  r12, r12, r10        \n\t"
        "vmov r10, s24             \n\t"
        "cmp  r5, r10              \n\t"
        "bne  0b                   \n\t"
        : "+r"(a0), "+r"(a1), "+r"(q0), "+r"(q1), "+r"(factor0), "+r"(factor1), "+t"(to)
        : "t"(k), "t"(q_stride), "t"(turns), "t"(end)
        : "r0", "r2", "r4", "r6", "r8", "r10", "lr", "q0", "q1", "q2", "q3", "q4", "cc", "memory");
    // clang-format on
    static_assert(offsetof(Sums, rows[1]) == 576);
}

// Of two rows by one column, any k.
ETCH_INLINE void multiply_column(const std::uint8_t* row0, const std::uint8_t* row1, const Columns4& columns,
                                 std::uint32_t column, std::int32_t& sum0, std::int32_t& sum1) noexcept {
    const std::int8_t* const a0 = reinterpret_cast<const std::int8_t*>(row0);
    const std::int8_t* const a1 = reinterpret_cast<const std::int8_t*>(row1);
    const std::int8_t* q = columns.q + std::size_t{column} * columns.groups() * 16;
    const std::uint8_t* factors = columns.factors + std::size_t{column} * columns.groups();
    sum0 = sum1 = 0;
    for (std::uint32_t i = 0; i < columns.k; i += kS4Group, q += 16) {
        const std::int8_t factor = static_cast<std::int8_t>(*factors++);
        const int8x16_t nibbles = vldrbq_s8(q);
        const int8x16_t low = vmulq_n_s8(vshrq_n_s8(vshlq_n_s8(nibbles, 4), 4), factor);
        sum0 = vmladavaq_s8(sum0, vldrbq_s8(a0 + i), low);
        sum1 = vmladavaq_s8(sum1, vldrbq_s8(a1 + i), low);
        if (columns.k - i <= 16) break;  // the high nibbles are padding, which the rows do not have
        const int8x16_t high = vmulq_n_s8(vshrq_n_s8(nibbles, 4), factor);
        sum0 = vmladavaq_s8(sum0, vldrbq_s8(a0 + i + 16), high);
        sum1 = vmladavaq_s8(sum1, vldrbq_s8(a1 + i + 16), high);
    }
}

ETCH_NOINLINE void multiply_group_s4(const std::uint8_t* row0, const std::uint8_t* row1, const Columns4& columns,
                                     std::uint32_t column, std::uint32_t count, Sums& sums) noexcept {
    const std::uint32_t even = columns.k % kS4Group == 0 ? count / 2 * 2 : 0;
    if (even != 0) multiply_whole_groups(row0, row1, columns, column, even, sums);
    for (std::uint32_t i = even; i < count; ++i)
        multiply_column(row0, row1, columns, column + i, sums.rows[0][i], sums.rows[1][i]);
}

#undef ETCH_MVE_GROUP_S4

void matmul_s4(const MatmulS8& m, const std::uint8_t* factors, std::uint32_t first_panel,
               std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    const Columns4 columns{m.weights, factors, (m.k + 15) / 16 * 16};
    for_each_group(first_panel, last_panel, m.n, [&](std::uint32_t column, std::uint32_t count) ETCH_INLINE_BODY {
        for (std::uint32_t row = 0; row < m.rows; row += 2) {
            const std::uint32_t next = row + 1 < m.rows ? row + 1 : row;
            Sums sums;
            multiply_group_s4(m.a.data + row * m.a.stride_bytes, m.a.data + next * m.a.stride_bytes, columns, column,
                              count, sums);
            finish_s8(m, row, next, column, count, sums);
        }
    });
}
