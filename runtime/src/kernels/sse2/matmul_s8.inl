// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by pmaddwd, tiles of 2 rows x 16 columns, the whole K in registers. Included inside the
// namespace of sse2.
//
// a       [rows][k], encoded as int16, each 4 values in the order 0, 2, 1, 3; zeros up to a multiple of kEncodedPadding
//         values; row stride in bytes, any alignment.
// weights [n][k] s8 in Packing::panel, made by codegen/pack.py or by the Pack ops for keys and values; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows, any n (the last panel may be cut), any k.
//
// A register of weights is 4 columns x 4 k. As int16, its low bytes are k = 0 and 2 of each column and its high bytes k
// = 1 and 3: two shifts widen the one, one shift the other, and pmaddwd adds the products of a pair. 8 sums, 4
// registers of a and 2 of weights are 14 of the 16.

constexpr std::uint8_t kEncodedBytes = 2;

// Encodes rne(x), |x| <= 127.
ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    for (const Pair<Register>& half : {x.low, x.high}) {
        const __m128i low_swapped = _mm_shufflelo_epi16(round_to_words(half), _MM_SHUFFLE(3, 1, 2, 0));
        const __m128i swapped = _mm_shufflehi_epi16(low_swapped, _MM_SHUFFLE(3, 1, 2, 0));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(encoded), swapped);
        encoded += 16;
    }
}

struct Ints {
    __m128i quarters[4];
};

ETCH_INLINE Floats to_floats(const Ints& x) noexcept {
    return {{{_mm_cvtepi32_ps(x.quarters[0])}, {_mm_cvtepi32_ps(x.quarters[1])}},
            {{_mm_cvtepi32_ps(x.quarters[2])}, {_mm_cvtepi32_ps(x.quarters[3])}}};
}

// sum += addend per int32 lane. Written as assembly because GCC 12 otherwise adds into another register and moves or
// spills the sums on every turn of the loop.
ETCH_INLINE void accumulate(__m128i& sum, __m128i addend) noexcept {
    asm("paddd %1, %0" : "+x"(sum) : "x"(addend));
}

struct TileS8 {
    static constexpr unsigned kPanels = 1;
    static constexpr unsigned kMaxRows = 2;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const Columns<1>& columns, const std::int8_t* weights,
                                  std::uint32_t row) noexcept {
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        const std::uint32_t groups = (m.k + 3) / 4;
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            ETCH_UNROLL
            for (unsigned q = 0; q < 4; ++q)
                sums[r][0].quarters[q] = _mm_setzero_si128();
        }
        for (std::uint32_t g = 0; g < groups; ++g) {
            __m128i even[kRows];
            __m128i odd[kRows];
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r) {
                const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(a + r * a_stride));
                even[r] = _mm_shuffle_epi32(four, 0x00);
                odd[r] = _mm_shuffle_epi32(four, 0x55);
            }
            ETCH_UNROLL
            for (unsigned q = 0; q < 4; ++q) {
                const __m128i w = _mm_loadu_si128(reinterpret_cast<const __m128i*>(weights + q * 16));
                const __m128i even_w = _mm_srai_epi16(_mm_slli_epi16(w, 8), 8);
                const __m128i odd_w = _mm_srai_epi16(w, 8);
                ETCH_UNROLL
                for (unsigned r = 0; r < kRows; ++r) {
                    accumulate(sums[r][0].quarters[q], _mm_madd_epi16(even[r], even_w));
                    accumulate(sums[r][0].quarters[q], _mm_madd_epi16(odd[r], odd_w));
                }
            }
            weights += 64;
            a += 8;
        }
        finish_tile_s8(m, row, columns, sums);
    }
};
