// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by vmladava, tiles of 2 rows x 3 columns, the whole K
// in registers. Included inside the namespace of mve.
//
// a       [rows][k], plain s8; zeros up to a multiple of kEncodedPadding
// values; row stride in bytes, any alignment. weights [n][k] s8 in
// Packing::rows, made by codegen/pack.py or by the Pack ops for keys and
// values; any alignment. out     [rows][n] f32, row stride out_stride floats;
// columns from n on are not touched. residual may be out. Any rows (an odd one
// is computed and stored twice), any n (the last 1 or 2 of a group of columns
// are a tile, too), any k.
//
// vmladava multiplies 16 bytes by 16 and adds the products to a general
// register of even number: there are seven besides lr, which counts the loop. 2
// x 3 tiles take six, with 5 loads for 6 products of 16; the five pointers and
// one to the sums take the odd ones but r7, a frame pointer in some builds.
// What a turn of the outer loop needs beyond that is in s20 to s22.

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
// A chunk of k values, a multiple of 32.
#define ETCH_MVE_32(first) ETCH_MVE_16(first, ", #0]") ETCH_MVE_16("vmladava.s8", ", #16]")
#define ETCH_MVE_64(first) \
    ETCH_MVE_32(first) ETCH_MVE_16("vmladava.s8", ", #32]") ETCH_MVE_16("vmladava.s8", ", #48]")
#define ETCH_MVE_96(first) \
    ETCH_MVE_64(first) ETCH_MVE_16("vmladava.s8", ", #64]") ETCH_MVE_16("vmladava.s8", ", #80]")
#define ETCH_MVE_128(first) \
    ETCH_MVE_96(first) ETCH_MVE_16("vmladava.s8", ", #96]") ETCH_MVE_16("vmladava.s8", ", #112]")
// Stores the sums, moves on to the next columns and goes back to label 0 unless there are none.
#define ETCH_MVE_NEXT                   \
    "str   r4, [r12, #8]          \n\t" \
    "str   r10, [r12, #584]       \n\t" \
    "strd  r6, r8, [r12, #576]    \n\t" \
    "strd  r0, r2, [r12], #12     \n\t" \
    "vmov  r0, r2, s20, s21       \n\t" \
    "mov   r5, r11                \n\t" \
    "add   r9, r11, r0            \n\t" \
    "add   r11, r9, r0            \n\t" \
    "cmp   r5, r2                 \n\t" \
    "bne   0b                     \n\t"
static_assert(offsetof(Sums, rows[1]) == 576);

// Tiles side by side: columns w0, w1 = w0 + k, w2 = w1 + k and those that follow, up to `end`, where the last tile's w2
// ends. k is a multiple of 16. For a single tile, w0 to w2 may be any columns.
ETCH_NOINLINE void multiply_2x3(const std::uint8_t* row0, const std::uint8_t* row1, const std::int8_t* column0,
                                const std::int8_t* column1, const std::int8_t* column2, const std::int8_t* end,
                                std::uint32_t k, std::int32_t* sums) noexcept {
    register const std::uint8_t* a0 asm("r1") = row0;
    register const std::uint8_t* a1 asm("r3") = row1;
    register const std::int8_t* w0 asm("r5") = column0;
    register const std::int8_t* w1 asm("r9") = column1;
    register const std::int8_t* w2 asm("r11") = column2;
    register std::int32_t* to asm("r12") = sums;
    register float k_bytes asm("s20") = from_bits(k);
    register float last asm("s21") = from_bits(reinterpret_cast<std::uint32_t>(end));
    const std::uint32_t chunk = k % 128 == 0 ? 128 : k % 96 == 0 ? 96 : k % 64 == 0 ? 64 : k % 32 == 0 ? 32 : 16;
    register float turns asm("s22") = from_bits(k / chunk - 1);
    register float back asm("s23") = from_bits(chunk == 16 ? k : k - chunk);
#define ETCH_MVE_TILES(first_part, loop)                                                            \
    asm volatile(                                                                                                  \
        "0:                     \n\t"                                                                              \
        "vmov     lr, s22       \n\t"                                                                              \
        first_part                                                                                                 \
        "wls      lr, lr, 2f    \n"                                                                                \
        "1:                     \n\t"                                                                              \
        loop                                                                                                       \
        "le       lr, 1b        \n"                                                                                \
        "vmov     lr, s23       \n\t"                                                                              \
        "sub      r1, r1, lr    \n\t"                                                                              \
        "sub      r3, r3, lr    \n"                                                                                \
        "2:                     \n\t"                                                                              \
        ETCH_MVE_NEXT                                                                                              \
        : "+r"(a0), "+r"(a1), "+r"(w0), "+r"(w1), "+r"(w2), "+r"(to)                                               \
        : "t"(k_bytes), "t"(last), "t"(turns), "t"(back)                                                           \
        : "r0", "r2", "r4", "r6", "r8", "r10", "lr", "q0", "q1", "q2", "q3", "q4", "cc", "memory")
#define ETCH_MVE_CHUNKS(size, chunk) \
    ETCH_MVE_TILES(chunk("vmladav.s8"), "adds r1, #" #size "\n\t adds r3, #" #size "\n\t" chunk("vmladava.s8"))
    switch (chunk) {
        case 128:
            ETCH_MVE_CHUNKS(128, ETCH_MVE_128);
            break;
        case 96:
            ETCH_MVE_CHUNKS(96, ETCH_MVE_96);
            break;
        case 64:
            ETCH_MVE_CHUNKS(64, ETCH_MVE_64);
            break;
        case 32:
            ETCH_MVE_CHUNKS(32, ETCH_MVE_32);
            break;
        default:
            // The rows of a move here, with every 16 values.
            asm volatile(
                "0:                     \n\t"
                "vmov     lr, s22       \n\t"
                ETCH_MVE_16("vmladav.s8", "], #16")
                "wls      lr, lr, 2f    \n"
                "1:                     \n\t"
                ETCH_MVE_16("vmladava.s8", "], #16")
                "le       lr, 1b        \n"
                "2:                     \n\t"
                "vmov     lr, s23       \n\t"
                "sub      r1, r1, lr    \n\t"
                "sub      r3, r3, lr    \n\t"
                ETCH_MVE_NEXT
                : "+r"(a0), "+r"(a1), "+r"(w0), "+r"(w1), "+r"(w2), "+r"(to)
                : "t"(k_bytes), "t"(last), "t"(turns), "t"(back)
                : "r0", "r2", "r4", "r6", "r8", "r10", "lr", "q0", "q1", "q2", "q3", "q4", "cc", "memory");
    }
}
#undef ETCH_MVE_CHUNKS
#undef ETCH_MVE_TILES
#undef ETCH_MVE_16
#undef ETCH_MVE_128
#undef ETCH_MVE_96
#undef ETCH_MVE_64
#undef ETCH_MVE_32
#undef ETCH_MVE_NEXT
// clang-format on

// Sums of two rows by `count` columns from `weights` on.
ETCH_INLINE void multiply_group(const std::uint8_t* row0, const std::uint8_t* row1, const std::int8_t* weights,
                                std::uint32_t count, std::uint32_t k, Sums& sums) noexcept {
    const std::uint32_t left = count % kTileColumns;
    const std::int8_t* const rest = weights + std::size_t{count - left} * k;
    if (rest != weights)
        multiply_2x3(row0, row1, weights, weights + k, weights + std::size_t{2} * k, rest, k, sums.rows[0]);
    if (left == 0) return;
    const std::int8_t* const second = left == 2 ? rest + k : rest;
    multiply_2x3(row0, row1, rest, second, second, second + k, k, sums.rows[0] + (count - left));
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    const std::uint32_t k = (m.k + 15) / 16 * 16;
    for_each_group(first_panel, last_panel, m.n, [&](std::uint32_t column, std::uint32_t count) ETCH_INLINE_BODY {
        for (std::uint32_t row = 0; row < m.rows; row += 2) {
            const std::uint8_t* const a = m.a.data + row * m.a.stride_bytes;
            const std::uint32_t next = row + 1 < m.rows ? row + 1 : row;
            Sums sums;
            multiply_group(a, m.a.data + next * m.a.stride_bytes, m.weights + std::size_t{column} * k, count, k, sums);
            finish_s8(m, row, next, column, count, sums);
        }
    });
}
