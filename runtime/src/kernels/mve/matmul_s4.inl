// SPDX-License-Identifier: Apache-2.0
// s8 x weights of 4 bits by vmladava, tiles of 2 rows x 2 columns. Included inside the namespace of mve.
//
// weights [n][k/32][16] in Packing::rows: byte i of a group holds k = i in its low nibble, k = 16 + i in its high one,
// and factors [n][k/32] (packing.hpp); any alignment. Rows, columns and out as in matmul_s8.inl.
//
// Shifts and a multiplication by the factor make s8 weights of the nibbles in registers, once for both rows.

struct Columns4 {
    const std::int8_t* q;
    const std::uint8_t* factors;
    std::uint32_t k;  // a multiple of 16

    ETCH_INLINE std::uint32_t groups() const noexcept { return (k + kS4Group - 1) / kS4Group; }
};

// sums.rows[0 and 1][at] and [at + 1] of the columns `first` and `second`.
ETCH_INLINE void multiply_columns(const std::uint8_t* row0, const std::uint8_t* row1, const Columns4& columns,
                                  std::uint32_t first, std::uint32_t second, std::uint32_t at, Sums& sums) noexcept {
    const std::uint32_t groups = columns.groups();
    register const std::uint8_t* a0 asm("r1") = row0;
    register const std::uint8_t* a1 asm("r3") = row1;
    register const std::int8_t* q0 asm("r5") = columns.q + std::size_t{first} * groups * 16;
    register const std::int8_t* q1 asm("r9") = columns.q + std::size_t{second} * groups * 16;
    register const std::uint8_t* factor0 asm("r11") = columns.factors + std::size_t{first} * groups;
    register const std::uint8_t* factor1 asm("r12") = columns.factors + std::size_t{second} * groups;
    register std::int32_t sum00 asm("r0") = 0;
    register std::int32_t sum10 asm("r2") = 0;
    register std::int32_t sum01 asm("r4") = 0;
    register std::int32_t sum11 asm("r6") = 0;
    register std::uint32_t left asm("lr") = columns.k / kS4Group;
    // clang-format off
    asm volatile(
        "wls  lr, lr, 1f           \n"
        "0:                        \n\t"
        "vldrb.u8 q0, [r1], #16    \n\t"
        "vldrb.u8 q1, [r3], #16    \n\t"
        "vldrb.u8 q2, [r5], #16    \n\t"
        "ldrb r8, [r11], #1        \n\t"
        "vshl.s8 q3, q2, #4        \n\t"
        "vshr.s8 q3, q3, #4        \n\t"
        "vmul.i8 q3, q3, r8        \n\t"
        "vmladava.s8 r0, q0, q3    \n\t"
        "vmladava.s8 r2, q1, q3    \n\t"
        "vldrb.u8 q4, [r9], #16    \n\t"
        "ldrb r10, [r12], #1       \n\t"
        "vshl.s8 q3, q4, #4        \n\t"
        "vshr.s8 q3, q3, #4        \n\t"
        "vmul.i8 q3, q3, r10       \n\t"
        "vmladava.s8 r4, q0, q3    \n\t"
        "vmladava.s8 r6, q1, q3    \n\t"
        "vldrb.u8 q0, [r1], #16    \n\t"
        "vldrb.u8 q1, [r3], #16    \n\t"
        "vshr.s8 q2, q2, #4        \n\t"
        "vmul.i8 q2, q2, r8        \n\t"
        "vmladava.s8 r0, q0, q2    \n\t"
        "vmladava.s8 r2, q1, q2    \n\t"
        "vshr.s8 q4, q4, #4        \n\t"
        "vmul.i8 q4, q4, r10       \n\t"
        "vmladava.s8 r4, q0, q4    \n\t"
        "vmladava.s8 r6, q1, q4    \n\t"
        "le   lr, 0b               \n"
        "1:                        \n\t"
        : "+r"(a0), "+r"(a1), "+r"(q0), "+r"(q1), "+r"(factor0), "+r"(factor1), "+r"(sum00), "+r"(sum10), "+r"(sum01),
          "+r"(sum11), "+r"(left)
        :
        : "r8", "r10", "q0", "q1", "q2", "q3", "q4", "cc", "memory");
    // clang-format on
    std::int32_t results[2][2] = {{sum00, sum01}, {sum10, sum11}};
    if (columns.k % kS4Group != 0) {  // the high nibbles of the last group are padding
        const int8x16_t low0 = vshrq_n_s8(vshlq_n_s8(vldrbq_s8(q0), 4), 4);
        const int8x16_t low1 = vshrq_n_s8(vshlq_n_s8(vldrbq_s8(q1), 4), 4);
        const int8x16_t weights[2] = {vmulq_n_s8(low0, static_cast<std::int8_t>(*factor0)),
                                      vmulq_n_s8(low1, static_cast<std::int8_t>(*factor1))};
        ETCH_UNROLL
        for (unsigned c = 0; c < 2; ++c) {
            results[0][c] =
                vmladavaq_s8(results[0][c], vldrbq_s8(reinterpret_cast<const std::int8_t*>(a0)), weights[c]);
            results[1][c] =
                vmladavaq_s8(results[1][c], vldrbq_s8(reinterpret_cast<const std::int8_t*>(a1)), weights[c]);
        }
    }
    ETCH_UNROLL
    for (unsigned r = 0; r < 2; ++r) {
        sums.rows[r][at] = results[r][0];
        sums.rows[r][at + 1] = results[r][1];
    }
}

ETCH_NOINLINE void multiply_group_s4(const std::uint8_t* row0, const std::uint8_t* row1, const Columns4& columns,
                                     std::uint32_t column, std::uint32_t count, Sums& sums) noexcept {
    for (std::uint32_t i = 0; i < count; i += 2) {
        const std::uint32_t second = i + 1 < count ? i + 1 : i;
        multiply_columns(row0, row1, columns, column + i, column + second, i, sums);
    }
}

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
