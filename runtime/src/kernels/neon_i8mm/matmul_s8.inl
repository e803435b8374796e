// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by smmla, tiles of 6 rows x 16 columns, the whole K in registers. Included inside the namespace
// of neon_i8mm, behind sdot's tile.
//
// a       [rows][k], plain s8; zeros up to a multiple of kEncodedPadding values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack or by the Pack ops for keys and values; any
//         alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 5 rows have their own tiles), any n (the last panel may be cut), any k.
//
// smmla adds the products of 2 rows x 8 k by 2 columns x 8 k to 2 x 2 sums. Two groups of 4 k of a panel hold 4 columns
// in a register each; zip puts the 8 k of a column side by side. A pair of rows comes by halves of a register. For 8 k
// that is 24 products, 8 zips and 3 insertions, where sdot takes 48 products: 24 sums, 3 pairs of rows and 4 registers
// of weights are 31 of the 32. One row alone would waste half of each product: it is sdot's.

// Sums of two rows by 16 columns: each register has [row][2 columns].
struct RowPair {
    int32x4_t columns[8];
};

// sums += 2 rows of a x 2 columns of w, 8 k of each. Written as assembly because clang 14 offers the intrinsic only
// where the whole file is compiled for it.
ETCH_INLINE void multiply(int32x4_t& sums, int8x16_t a, int8x16_t w) noexcept {
    asm("smmla %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(a), "w"(w));
}

// Eight values of each of two rows.
ETCH_INLINE int8x16_t load_pair(const std::uint8_t* first, const std::uint8_t* second) noexcept {
    return vcombine_s8(vld1_s8(reinterpret_cast<const std::int8_t*>(first)),
                       vld1_s8(reinterpret_cast<const std::int8_t*>(second)));
}

// sums += the products of 8 k: 4 of the panel's group at `low`, and those of the next group in `high`, by quarters.
template <unsigned kPairs, class High>
ETCH_INLINE void multiply_groups(const int8x16_t (&a)[kPairs], const std::int8_t* low, High high,
                                 RowPair (&sums)[kPairs]) noexcept {
    ETCH_UNROLL
    for (unsigned q = 0; q < 4; ++q) {
        const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(low + q * 16));
        const int32x4_t second = vreinterpretq_s32_s8(high(q));
        const int8x16_t left = vreinterpretq_s8_s32(vzip1q_s32(first, second));
        const int8x16_t right = vreinterpretq_s8_s32(vzip2q_s32(first, second));
        ETCH_UNROLL
        for (unsigned p = 0; p < kPairs; ++p) {
            multiply(sums[p].columns[2 * q], a[p], left);
            multiply(sums[p].columns[2 * q + 1], a[p], right);
        }
        // The next quarter is not loaded before: there is no register for it.
        asm("" ::: "memory");
    }
}

// Row `row` of a pair.
ETCH_INLINE Ints row_of(const RowPair& pair, unsigned row) noexcept {
    Ints sums;
    ETCH_UNROLL
    for (unsigned q = 0; q < 4; ++q) {
        const int64x2_t left = vreinterpretq_s64_s32(pair.columns[2 * q]);
        const int64x2_t right = vreinterpretq_s64_s32(pair.columns[2 * q + 1]);
        sums.quarters[q] = vreinterpretq_s32_s64(row == 0 ? vzip1q_s64(left, right) : vzip2q_s64(left, right));
    }
    return sums;
}

struct TileS8 {
    static constexpr unsigned kMaxRows = 6;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const Columns<1>& columns, const std::int8_t* weights,
                                  std::uint32_t row) noexcept {
        if constexpr (kRows == 1) {
            DotTile::run<1>(m, columns, weights, row);
        } else {
            run_pairs<kRows>(m, columns, weights, row);
        }
    }

  private:
    // The last row of an odd number is its own partner.
    template <unsigned kRows>
    static ETCH_INLINE void run_pairs(const MatmulS8& m, const Columns<1>& columns, const std::int8_t* weights,
                                      std::uint32_t row) noexcept {
        constexpr unsigned kPairs = (kRows + 1) / 2;
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        RowPair pairs[kPairs];
        ETCH_UNROLL
        for (RowPair& pair : pairs) {
            ETCH_UNROLL
            for (int32x4_t& sum : pair.columns)
                sum = vdupq_n_s32(0);
        }
        const auto values = [&](int8x16_t(&loaded)[kPairs]) ETCH_INLINE_BODY {
            ETCH_UNROLL
            for (unsigned p = 0; p < kPairs; ++p) {
                const unsigned second = 2 * p + 1 < kRows ? 2 * p + 1 : 2 * p;
                loaded[p] = load_pair(a + 2 * p * a_stride, a + second * a_stride);
            }
        };
        std::uint32_t groups = (m.k + 3) / 4;
        int8x16_t loaded[kPairs];
        for (; groups >= 2; groups -= 2) {
            values(loaded);
            multiply_groups(
                loaded, weights, [weights](unsigned q) ETCH_INLINE_BODY { return vld1q_s8(weights + 64 + q * 16); },
                pairs);
            weights += 128;
            a += 8;
        }
        if (groups != 0) {
            values(loaded);
            multiply_groups(
                loaded, weights, [](unsigned) ETCH_INLINE_BODY { return vdupq_n_s8(0); }, pairs);
        }
        ETCH_UNROLL
        for (RowPair& pair : pairs) {
            ETCH_UNROLL
            for (int32x4_t& sum : pair.columns)
                ETCH_KEEP_IN_REGISTER("w", sum);
        }
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            sums[r][0] = row_of(pairs[r / 2], r % 2);
        finish_tile_s8(m, row, columns, sums);
    }
};
