// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by sdot, tiles of 4 rows x 16 columns, the whole K in registers. Included inside the
// namespaces of neon_dotprod and neon_i8mm.
//
// a       [rows][k], plain s8; zeros up to a multiple of kEncodedPadding values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack or by the Pack ops for keys and values; any
//         alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 3 rows have their own tiles), any n (the last panel may be cut), any k.
//
// A register of weights is 4 columns x 4 k, and sdot multiplies it by 4 of the 16 values of a in another: four
// groups of k per load of a. 16 sums, 4 registers of a and 4 of weights are 24 of the 32.

struct Ints {
    int32x4_t quarters[4];
};

ETCH_INLINE Floats to_floats(const Ints& x) noexcept {
    return {{{vcvtq_f32_s32(x.quarters[0])}, {vcvtq_f32_s32(x.quarters[1])}},
            {{vcvtq_f32_s32(x.quarters[2])}, {vcvtq_f32_s32(x.quarters[3])}}};
}

// sum += w * 4 values of a. Written as assembly because clang 14 offers the intrinsic only where the whole file is
// compiled for it.
template <int kGroup>
ETCH_INLINE void dot(int32x4_t& sum, int8x16_t w, int8x16_t a) noexcept {
    asm("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sum) : "w"(w), "w"(a), "i"(kGroup));
}

// sums += the products of group kGroup of the 16 values in each register of a.
template <int kGroup, unsigned kRows>
ETCH_INLINE void multiply_group(const int8x16_t (&a)[kRows], const std::int8_t* weights,
                                Ints (&sums)[kRows][1]) noexcept {
    ETCH_UNROLL
    for (unsigned q = 0; q < 4; ++q) {
        const int8x16_t w = vld1q_s8(weights + kGroup * 64 + q * 16);
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            dot<kGroup>(sums[r][0].quarters[q], w, a[r]);
    }
}

struct DotTile {
    static constexpr unsigned kMaxRows = 4;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const Columns<1>& columns, const std::int8_t* weights,
                                  std::uint32_t row) noexcept {
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            ETCH_UNROLL
            for (unsigned q = 0; q < 4; ++q)
                sums[r][0].quarters[q] = vdupq_n_s32(0);
        }
        std::uint32_t groups = (m.k + 3) / 4;
        while (groups > 0) {
            int8x16_t values[kRows];
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r)
                values[r] = vld1q_s8(reinterpret_cast<const std::int8_t*>(a + r * a_stride));
            multiply_group<0>(values, weights, sums);
            if (groups > 1) multiply_group<1>(values, weights, sums);
            if (groups > 2) multiply_group<2>(values, weights, sums);
            if (groups > 3) multiply_group<3>(values, weights, sums);
            groups -= groups < 4 ? groups : 4;
            weights += 256;
            a += 16;
        }
        finish_tile_s8(m, row, columns, sums);
    }
};
