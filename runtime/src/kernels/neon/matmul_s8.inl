// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by smull and sadalp, tiles of 4 rows x 8 columns, the whole K in registers. Included inside the
// namespace of neon.
//
// a       [rows][k], plain s8; zeros up to a multiple of kEncodedPadding values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack or by the Pack ops for keys and values; any
//         alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 3 rows have their own tiles), any n (the last panel may be cut), any k.
//
// Half a register of weights is 2 columns x 4 k; its products with 4 broadcast values of a, and those of the next 4 k,
// add up in int16 (at most 2 * 127 * 127 = 32,258), and sadalp adds neighbours of them to int32: per 8 k and 4 columns
// 4 multiplications and 2 additions. A column's sum is in two lanes, which the end adds up. 16 sums, 4 registers of
// weights and 8 of a are 28 of the 32; the second half of a panel makes its own pass.

// The sums of 8 columns, two lanes each.
struct HalfSums {
    int32x4_t pairs[4];
};
struct Ints {
    int32x4_t quarters[4];
};

ETCH_INLINE Floats to_floats(const Ints& x) noexcept {
    return {{{vcvtq_f32_s32(x.quarters[0])}, {vcvtq_f32_s32(x.quarters[1])}},
            {{vcvtq_f32_s32(x.quarters[2])}, {vcvtq_f32_s32(x.quarters[3])}}};
}

ETCH_INLINE int8x16_t broadcast_4_bytes(const std::uint8_t* p) noexcept {
    std::int32_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return vreinterpretq_s8_s32(vdupq_n_s32(bytes));
}

// The sums of kRows rows from `a` on by the 8 columns from `weights` on.
template <unsigned kRows>
ETCH_INLINE void multiply_half(const std::uint8_t* a, std::size_t a_stride, const std::int8_t* weights,
                               std::uint32_t groups, HalfSums (&sums)[kRows]) noexcept {
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        ETCH_UNROLL
        for (unsigned p = 0; p < 4; ++p)
            sums[r].pairs[p] = vdupq_n_s32(0);
    }
    for (; groups >= 2; groups -= 2) {
        int8x16_t w[2][2];  // [group][4 columns]
        ETCH_UNROLL
        for (unsigned g = 0; g < 2; ++g) {
            w[g][0] = vld1q_s8(weights + g * 64);
            w[g][1] = vld1q_s8(weights + g * 64 + 16);
        }
        weights += 128;
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const int8x16_t first = broadcast_4_bytes(a + r * a_stride);
            const int8x16_t second = broadcast_4_bytes(a + r * a_stride + 4);
            ETCH_UNROLL
            for (unsigned c = 0; c < 2; ++c) {
                int16x8_t low = vmull_s8(vget_low_s8(first), vget_low_s8(w[0][c]));
                int16x8_t high = vmull_high_s8(first, w[0][c]);
                low = vmlal_s8(low, vget_low_s8(second), vget_low_s8(w[1][c]));
                high = vmlal_high_s8(high, second, w[1][c]);
                sums[r].pairs[2 * c] = vpadalq_s16(sums[r].pairs[2 * c], low);
                sums[r].pairs[2 * c + 1] = vpadalq_s16(sums[r].pairs[2 * c + 1], high);
            }
        }
        a += 8;
    }
    if (groups == 0) return;
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        const int8x16_t last = broadcast_4_bytes(a + r * a_stride);
        ETCH_UNROLL
        for (unsigned c = 0; c < 2; ++c) {
            const int8x16_t w = vld1q_s8(weights + c * 16);
            sums[r].pairs[2 * c] = vpadalq_s16(sums[r].pairs[2 * c], vmull_s8(vget_low_s8(last), vget_low_s8(w)));
            sums[r].pairs[2 * c + 1] = vpadalq_s16(sums[r].pairs[2 * c + 1], vmull_high_s8(last, w));
        }
    }
}

struct TileS8 {
    static constexpr unsigned kMaxRows = 4;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const Columns<1>& columns, const std::int8_t* weights,
                                  std::uint32_t row) noexcept {
        const std::uint8_t* a = m.a.data + row * m.a.stride_bytes;
        const std::uint32_t groups = (m.k + 3) / 4;
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
            HalfSums pairs[kRows];
            multiply_half<kRows>(a, m.a.stride_bytes, weights + half * 32, groups, pairs);
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r) {
                sums[r][0].quarters[2 * half] = vpaddq_s32(pairs[r].pairs[0], pairs[r].pairs[1]);
                sums[r][0].quarters[2 * half + 1] = vpaddq_s32(pairs[r].pairs[2], pairs[r].pairs[3]);
            }
        }
        finish_tile_s8(m, row, columns, sums);
    }
};
