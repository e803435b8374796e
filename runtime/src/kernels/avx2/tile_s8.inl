// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32, tiles of 3 rows x 16 columns, the whole K in registers. Included inside the namespace of avx2,
// behind tiles.inl, next_weights.inl and first_sums.inl.
//
// a       [rows][k] in the set's encoding; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack or by the Pack ops; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 and 2 rows have their own tiles), any n (the last panel is stored by mask), any k.
//
// The integers are exact whatever the rows hold: each step of 8 k is multiplied in the fastest way in which no sum of
// 16 bits can overflow for the rows of the tile (row_s8.inl). Vector operations for 8 k of a row and of 8 columns:
//     paired  5: vpmaddubsw twice, vpaddw, vpmaddwd by ones, vpaddd
//     single  6: vpmaddubsw, vpmaddwd, vpaddd, each twice
//     signed  8, and 4 for both eights of columns: vpxor as well, behind vpcmpgtb and vpabsb
// The first two multiply w + shift. The third needs no shift: with s the sign mask of a (0 or -1),
// a * w = |a| * (w ^ s) + (|a| & s), for w ^ -1 = -w - 1; a pair is at most 2 * 127 * 128 = 32,512. What shifts and
// signs add does not depend on the column: where a row's sums begin takes it away. vpsignb would need nothing taken
// away, but runs on the multipliers' ports of Zen 3 and Zen 4, which are the bottleneck.

struct Ints {
    __m256i low;
    __m256i high;
};

ETCH_INLINE Floats to_floats(Ints x) noexcept {
    return {{_mm256_cvtepi32_ps(x.low)}, {_mm256_cvtepi32_ps(x.high)}};
}

ETCH_INLINE __m256i broadcast_4_bytes(const std::uint8_t* p) noexcept {
    std::int32_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return _mm256_set1_epi32(bytes);
}

// sum += addend per int32 lane. Written as assembly because GCC 12 otherwise adds into another register and moves or
// spills the sums on every turn of the loop.
ETCH_INLINE void accumulate(__m256i& sum, __m256i addend) noexcept {
    asm("vpaddd %1, %0, %0" : "+x"(sum) : "x"(addend));
}

// Of 4 k and 16 columns.
ETCH_INLINE Ints load_group(const std::int8_t* weights) noexcept {
    const __m256i* const halves = reinterpret_cast<const __m256i*>(weights);
    return {_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)};
}

// sums += pairs, two to a lane.
ETCH_INLINE void accumulate_pairs(Ints& sums, Ints pairs) noexcept {
    const __m256i ones = _mm256_set1_epi16(1);
    accumulate(sums.low, _mm256_madd_epi16(pairs.low, ones));
    accumulate(sums.high, _mm256_madd_epi16(pairs.high, ones));
}

template <class Weights>
struct TileS8 {
    static constexpr unsigned kMaxRows = kTileRows;

    // The tile-th kRows rows of m. `steps` are those of its first block; `next`: one of next_weights.inl.
    template <unsigned kRows, class Next>
    static ETCH_INLINE void run(const MatmulS8& m, const std::int32_t* first_sums, Steps steps,
                                const Columns<1>& columns, const std::int8_t* weights, const Next& next,
                                std::uint32_t tile) noexcept {
        const std::uint32_t row = tile * kMaxRows;
        const std::size_t stride = m.a.stride_bytes;
        auto ahead = next.from(tile, (m.k + kStep - 1) / kStep);
        const std::uint8_t* a = m.a.data + row * stride;
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            sums[r][0].low = sums[r][0].high = _mm256_set1_epi32(first_sums[row + r]);

        std::uint32_t groups = (m.k + 3) / 4;
        if (m.k > kShortRow) {
            const std::uint8_t* const masks = masks_of(m.a.data, m.k) + row * stride;
            for (std::uint32_t next_block = 1; groups >= 2; ++next_block) {
                const std::uint32_t count = groups / 2 < kBlockSteps ? groups / 2 : kBlockSteps;
                const std::uint32_t left = groups / 2 - count;
                const Steps following = left == 0 ? Steps{}
                                                  : steps_of<Weights>(masks, stride, kRows, next_block,
                                                                      left < kBlockSteps ? left : kBlockSteps);
                ahead.enter(left == 0 ? nullptr : weights + count * kStepBytes);
                add_steps(steps, count, a, stride, weights, ahead, sums);
                steps = following;
                a += count * kStep;
                weights += count * kStepBytes;
                groups -= count * 2;
            }
        }
        for (; groups > 0; --groups) {
            if constexpr (Weights::kNeedsSigns) {
                add_signed(a, stride, weights, sums);
            } else {
                add_single(a, stride, weights, sums);
            }
            a += 4;
            weights += kStepBytes / 2;
        }
        finish_tile_s8(m, row, columns, sums);
    }

  private:
    // sums += of the `count` steps of a block.
    template <unsigned kRows, class Reader>
    static ETCH_INLINE void add_steps(const Steps& steps, std::uint32_t count, const std::uint8_t* a,
                                      std::size_t stride, const std::int8_t* weights, Reader& ahead,
                                      Ints (&sums)[kRows][1]) noexcept {
        if (Weights::kMostlyPaired && steps.paired == lowest_bits(count)) {
            for (std::size_t step = 0; step < count; ++step) {
                ahead.fetch();
                add_paired(a + step * kStep, stride, weights + step * kStepBytes, sums);
            }
            return;
        }
        for (std::uint64_t left = steps.paired; left != 0; left = without_lowest(left)) {
            const std::size_t step = lowest(left);
            ahead.fetch();
            add_paired(a + step * kStep, stride, weights + step * kStepBytes, sums);
        }
        for (std::uint64_t left = steps.single; left != 0; left = without_lowest(left)) {
            const std::size_t step = lowest(left);
            ahead.fetch();
            add_single(a + step * kStep, stride, weights + step * kStepBytes, sums);
            add_single(a + step * kStep + 4, stride, weights + step * kStepBytes + kStepBytes / 2, sums);
        }
        if constexpr (!Weights::kNeedsSigns) return;
        for (std::uint64_t left = steps.with_signs(count); left != 0; left = without_lowest(left)) {
            const std::size_t step = lowest(left);
            ahead.fetch();
            add_signed(a + step * kStep, stride, weights + step * kStepBytes, sums);
            add_signed(a + step * kStep + 4, stride, weights + step * kStepBytes + kStepBytes / 2, sums);
        }
    }

    // sums += of 8 k.
    template <unsigned kRows>
    static ETCH_INLINE void add_paired(const std::uint8_t* a, std::size_t stride, const std::int8_t* weights,
                                       Ints (&sums)[kRows][1]) noexcept {
        const Ints w0 = shifted(load_group(weights));
        const Ints w1 = shifted(load_group(weights + kStepBytes / 2));
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const __m256i a0 = broadcast_4_bytes(a + r * stride);
            const __m256i a1 = broadcast_4_bytes(a + r * stride + 4);
            accumulate_pairs(sums[r][0],
                             {_mm256_add_epi16(_mm256_maddubs_epi16(w0.low, a0), _mm256_maddubs_epi16(w1.low, a1)),
                              _mm256_add_epi16(_mm256_maddubs_epi16(w0.high, a0), _mm256_maddubs_epi16(w1.high, a1))});
        }
    }

    // sums += of 4 k.
    template <unsigned kRows>
    static ETCH_INLINE void add_single(const std::uint8_t* a, std::size_t stride, const std::int8_t* weights,
                                       Ints (&sums)[kRows][1]) noexcept {
        const Ints w = shifted(load_group(weights));
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const __m256i a0 = broadcast_4_bytes(a + r * stride);
            accumulate_pairs(sums[r][0], {_mm256_maddubs_epi16(w.low, a0), _mm256_maddubs_epi16(w.high, a0)});
        }
    }
    template <unsigned kRows>
    static ETCH_INLINE void add_signed(const std::uint8_t* a, std::size_t stride, const std::int8_t* weights,
                                       Ints (&sums)[kRows][1]) noexcept {
        const Ints w = load_group(weights);
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const __m256i a0 = broadcast_4_bytes(a + r * stride);
            const __m256i signs = _mm256_cmpgt_epi8(_mm256_setzero_si256(), a0);
            const __m256i magnitudes = _mm256_abs_epi8(a0);
            accumulate_pairs(sums[r][0], {_mm256_maddubs_epi16(magnitudes, _mm256_xor_si256(w.low, signs)),
                                          _mm256_maddubs_epi16(magnitudes, _mm256_xor_si256(w.high, signs))});
        }
    }

    static ETCH_INLINE Ints shifted(Ints w) noexcept { return {Weights::shifted(w.low), Weights::shifted(w.high)}; }
};
