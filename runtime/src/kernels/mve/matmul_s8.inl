// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by vmladava, tiles of 2 rows x 3 columns, the whole K in registers. Included inside the
// namespace of mve.
//
// a       [rows][k], plain s8; zeros up to a multiple of kEncodedPadding values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::rows, made by codegen/pack or by the Pack ops; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (an odd one is computed and stored twice), any n (the last 1 or 2 of a group of columns are a tile,
// too), any k.
//
// vmladava multiplies 16 bytes by 16 and adds the products to a general register of even number: there are seven
// besides lr, which counts the loop. 2 x 3 tiles take six, with 5 loads for 6 products of 16; the five pointers and one
// to the sums take the odd ones but r7, a frame pointer in some builds. What a turn of the outer loop needs beyond
// that is in s20 to s24.

constexpr std::uint32_t kTileColumns = 3;

// clang-format off
// 16 values of k; `at` says where from the rows' pointers: ", #16]" there, "], #16" at them, which then move.
#define ETCH_MVE_16(multiply, at)      \
    "vldrb.u8 q0, [r1" at "      \n\t" \
    "vldrb.u8 q2, [r5], #16  \n\t"         \
    multiply " r0, q0, q2    \n\t"         \
    "vldrb.u8 q1, [r3" at "      \n\t" \
    multiply " r6, q1, q2    \n\t"         \
    "vldrb.u8 q3, [r9], #16  \n\t"         \
    multiply " r2, q0, q3    \n\t"         \
    multiply " r8, q1, q3    \n\t"         \
    "vldrb.u8 q4, [r11], #16 \n\t"         \
    multiply " r4, q0, q4    \n\t"         \
    multiply " r10, q1, q4   \n\t"
// That many times 16 values of k; `first` is vmladav, which begins the sums, or vmladava.
#define ETCH_MVE_NEXT_16(at) ETCH_MVE_16("vmladava.s8", ", #" #at "]")
#define ETCH_MVE_1(first) ETCH_MVE_16(first, ", #0]")
#define ETCH_MVE_2(first) ETCH_MVE_1(first) ETCH_MVE_NEXT_16(16)
#define ETCH_MVE_3(first) ETCH_MVE_2(first) ETCH_MVE_NEXT_16(32)
#define ETCH_MVE_4(first) ETCH_MVE_3(first) ETCH_MVE_NEXT_16(48)
#define ETCH_MVE_5(first) ETCH_MVE_4(first) ETCH_MVE_NEXT_16(64)
#define ETCH_MVE_6(first) ETCH_MVE_5(first) ETCH_MVE_NEXT_16(80)
#define ETCH_MVE_7(first) ETCH_MVE_6(first) ETCH_MVE_NEXT_16(96)
#define ETCH_MVE_8(first) ETCH_MVE_7(first) ETCH_MVE_NEXT_16(112)
// Stores the sums and moves on to the next columns.
#define ETCH_MVE_STORE                \
    "str   r4, [r12, #8]        \n\t" \
    "str   r10, [r12, #584]     \n\t" \
    "strd  r6, r8, [r12, #576]  \n\t" \
    "strd  r0, r2, [r12], #12   \n\t" \
    "vmov  r0, r2, s20, s21     \n\t" \
    "add   r5, r11, r2          \n\t" \
    "add   r9, r5, r0           \n\t" \
    "add   r11, r9, r0          \n\t"
static_assert(offsetof(Sums, rows[1]) == 576);
#define ETCH_MVE_CLOBBERS "r0", "r2", "r4", "r6", "r8", "r10", "q0", "q1", "q2", "q3", "q4", "cc", "memory"

// Where a call begins.
struct Tiles {
    const std::uint8_t* rows[2];
    const std::int8_t* columns[3];
    std::uint32_t k;       // a multiple of 16
    std::uint32_t stride;  // from one column to the next: k or more
    std::uint32_t count;  // tiles side by side, at least one: the next one's columns are the three behind columns[2]
    std::int32_t* sums;
};

// All of k in a row.
ETCH_NOINLINE void multiply_short(const Tiles& tiles) noexcept {
    register const std::uint8_t* a0 asm("r1") = tiles.rows[0];
    register const std::uint8_t* a1 asm("r3") = tiles.rows[1];
    register const std::int8_t* w0 asm("r5") = tiles.columns[0];
    register const std::int8_t* w1 asm("r9") = tiles.columns[1];
    register const std::int8_t* w2 asm("r11") = tiles.columns[2];
    register std::int32_t* to asm("r12") = tiles.sums;
    register std::uint32_t left asm("lr") = tiles.count;
    register float stride asm("s20") = from_bits(tiles.stride);
    register float rest asm("s21") = from_bits(tiles.stride - tiles.k);
#define ETCH_MVE_TILES(times_16)                                                                 \
    case times_16:                                                                               \
        asm volatile(                                                                            \
            "dls  lr, lr                 \n"                                                     \
            "0:                          \n\t"                                                   \
            ETCH_MVE_##times_16("vmladav.s8")                                                    \
            ETCH_MVE_STORE                                                                       \
            "le   lr, 0b                 \n\t"                                                   \
            : "+r"(a0), "+r"(a1), "+r"(w0), "+r"(w1), "+r"(w2), "+r"(to), "+r"(left)             \
            : "t"(stride), "t"(rest)                                                             \
            : ETCH_MVE_CLOBBERS);                                                                \
        break;
    switch (tiles.k / 16) {
        ETCH_MVE_TILES(1)
        ETCH_MVE_TILES(2)
        ETCH_MVE_TILES(3)
        ETCH_MVE_TILES(4)
        ETCH_MVE_TILES(5)
        ETCH_MVE_TILES(6)
        ETCH_MVE_TILES(7)
        ETCH_MVE_TILES(8)
    }
#undef ETCH_MVE_TILES
}

// k in chunks of the largest size that it is a multiple of.
ETCH_NOINLINE void multiply_long(const Tiles& tiles) noexcept {
    const std::uint32_t k = tiles.k;
    const std::uint32_t chunk = k % 128 == 0 ? 128 : k % 96 == 0 ? 96 : k % 64 == 0 ? 64 : k % 32 == 0 ? 32 : 16;
    register const std::uint8_t* a0 asm("r1") = tiles.rows[0];
    register const std::uint8_t* a1 asm("r3") = tiles.rows[1];
    register const std::int8_t* w0 asm("r5") = tiles.columns[0];
    register const std::int8_t* w1 asm("r9") = tiles.columns[1];
    register const std::int8_t* w2 asm("r11") = tiles.columns[2];
    register std::int32_t* to asm("r12") = tiles.sums;
    const std::int8_t* const last_end = w2 + std::size_t{3 * (tiles.count - 1) + 1} * tiles.stride;
    register float stride asm("s20") = from_bits(tiles.stride);
    register float rest asm("s21") = from_bits(tiles.stride - k);
    register float end asm("s24") = from_bits(reinterpret_cast<std::uint32_t>(last_end));
    register float turns asm("s22") = from_bits(k / chunk - 1);
    register float back asm("s23") = from_bits(k - chunk);
#define ETCH_MVE_TILES(size, times_16)                                                           \
    case size:                                                                                   \
        asm volatile(                                                                            \
            "0:                          \n\t"                                                   \
            "vmov lr, s22                \n\t"                                                   \
            ETCH_MVE_##times_16("vmladav.s8")                                                    \
            "dls  lr, lr                 \n"                                                     \
            "1:                          \n\t"                                                   \
            "adds r1, #" #size "         \n\t"                                                   \
            "adds r3, #" #size "         \n\t"                                                   \
            ETCH_MVE_##times_16("vmladava.s8")                                                   \
            "le   lr, 1b                 \n\t"                                                   \
            "vmov lr, s23                \n\t"                                                   \
            "sub  r1, r1, lr             \n\t"                                                   \
            "sub  r3, r3, lr             \n\t"                                                   \
            ETCH_MVE_STORE                                                                       \
            "vmov r2, s24                \n\t"                                                   \
            "cmp  r5, r2                 \n\t"                                                   \
            "bne  0b                     \n\t"                                                   \
            : "+r"(a0), "+r"(a1), "+r"(w0), "+r"(w1), "+r"(w2), "+r"(to)                         \
            : "t"(stride), "t"(rest), "t"(end), "t"(turns), "t"(back)                            \
            : "lr", ETCH_MVE_CLOBBERS);                                                          \
        break;
    switch (chunk) {
        ETCH_MVE_TILES(128, 8)
        ETCH_MVE_TILES(96, 6)
        ETCH_MVE_TILES(64, 4)
        ETCH_MVE_TILES(32, 2)
        ETCH_MVE_TILES(16, 1)
    }
#undef ETCH_MVE_TILES
}
#undef ETCH_MVE_16
#undef ETCH_MVE_NEXT_16
#undef ETCH_MVE_1
#undef ETCH_MVE_2
#undef ETCH_MVE_3
#undef ETCH_MVE_4
#undef ETCH_MVE_5
#undef ETCH_MVE_6
#undef ETCH_MVE_7
#undef ETCH_MVE_8
#undef ETCH_MVE_STORE
#undef ETCH_MVE_CLOBBERS
// clang-format on

ETCH_INLINE void multiply(const Tiles& tiles) noexcept {
    if (tiles.k <= 128) return multiply_short(tiles);
    multiply_long(tiles);
}

// Sums of two rows by `count` columns from `weights` on.
ETCH_INLINE void multiply_group(const std::uint8_t* row0, const std::uint8_t* row1, const std::int8_t* weights,
                                std::uint32_t count, std::uint32_t k, std::uint32_t stride, Sums& sums) noexcept {
    const std::uint32_t left = count % kTileColumns;
    const std::int8_t* const rest = weights + std::size_t{count - left} * stride;
    if (rest != weights) {
        multiply({{row0, row1},
                  {weights, weights + stride, weights + std::size_t{2} * stride},
                  k,
                  stride,
                  count / kTileColumns,
                  sums.rows[0]});
    }
    if (left == 0) return;
    const std::int8_t* const second = left == 2 ? rest + stride : rest;
    multiply({{row0, row1}, {rest, second, second}, k, stride, 1, sums.rows[0] + (count - left)});
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    const std::uint32_t k = (m.k + 15) / 16 * 16;
    const std::uint32_t stride = (m.allocated_k + 15) / 16 * 16;
    for_each_group(first_panel, last_panel, m.n, [&](std::uint32_t column, std::uint32_t count) ETCH_INLINE_BODY {
        for (std::uint32_t row = 0; row < m.rows; row += 2) {
            const std::uint8_t* const a = m.a.data + row * m.a.stride_bytes;
            const std::uint32_t next = row + 1 < m.rows ? row + 1 : row;
            Sums sums;
            multiply_group(a, m.a.data + next * m.a.stride_bytes, m.weights + std::size_t{column} * stride, count, k,
                           stride, sums);
            finish_s8(m, row, next, column, count, sums);
        }
    });
}
