// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32, tiles of 3 rows x 16 columns, the whole K in registers. Included inside the namespace of avx2,
// behind tiles.inl, steps_s8.inl and next_panel.inl.
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
    static constexpr unsigned kPanels = 1;
    static constexpr unsigned kMaxRows = 3;

    // first_sums: of each row of m. `next`: NextPanel or NoPanel.
    template <unsigned kRows, class Next>
    static ETCH_INLINE void run(const MatmulS8& m, const std::int32_t* const& first_sums, const Columns<1>& columns,
                                const std::int8_t* weights, const Next& next, std::uint32_t row) noexcept {
        const std::size_t stride = m.a.stride_bytes;
        auto ahead = next.from(row / kMaxRows, (m.k + kStep - 1) / kStep);
        const std::uint8_t* a = m.a.data + row * stride;
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            sums[r][0].low = sums[r][0].high = _mm256_set1_epi32(first_sums[row + r]);

        std::uint32_t groups = (m.k + 3) / 4;
        if (m.k > kShortRow) {
            const std::uint8_t* const masks = masks_of(m.a.data, m.k) + row * stride;
            for (std::uint32_t i = 0; groups >= 2; ++i) {
                const std::uint32_t count = groups / 2 < 64 ? groups / 2 : 64;
                add_steps(steps_of<Weights>(masks, stride, kRows, i, count), count, a, stride, weights, ahead, sums);
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

    // Where the sums of m's rows begin. Out of line: GCC 12 spills the sums of a function that calls another one.
    static ETCH_NOINLINE void find_first_sums(const MatmulS8& m, std::int32_t* sums) noexcept {
        for (std::uint32_t row = 0; row < m.rows; row += kMaxRows)
            find_first_sums_of_tile(m, row, m.rows - row < kMaxRows ? m.rows - row : kMaxRows, sums + row);
    }

  private:
    // sums += of `count` steps.
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
        for (std::uint64_t left = steps.with_signs; left != 0; left = without_lowest(left)) {
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

    // Of at most kMaxRows rows.
    static ETCH_INLINE void find_first_sums_of_tile(const MatmulS8& m, std::uint32_t row, std::uint32_t rows,
                                                    std::int32_t* sums) noexcept {
        const std::size_t stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * stride;
        if (m.k <= kShortRow) {
            for (std::uint32_t r = 0; r < rows; ++r)
                sums[r] = short_first_sum(a + r * stride, m.k);
            return;
        }
        const std::uint8_t* const masks = masks_of(m.a.data, m.k) + row * stride;
        for (std::uint32_t r = 0; r < rows; ++r)
            sums[r] = -Weights::kShift * sum_of_row(masks + r * stride, m.k);
        if constexpr (Weights::kNeedsSigns) {
            const auto add_signed_step = [&](std::size_t step) ETCH_INLINE_BODY {
                for (std::uint32_t r = 0; r < rows; ++r)
                    sums[r] += signed_first_sum(a + r * stride + step * kStep);
            };
            std::uint32_t groups = (m.k + 3) / 4;
            for (std::uint32_t i = 0; groups >= 2; ++i) {
                const std::uint32_t count = groups / 2 < 64 ? groups / 2 : 64;
                std::uint64_t left = steps_of<Weights>(masks, stride, rows, i, count).with_signs;
                for (; left != 0; left = without_lowest(left))
                    add_signed_step(lowest(left));
                a += count * kStep;
                groups -= count * 2;
            }
            if (groups > 0) add_signed_step(0);  // behind these 4 values are 4 zeros
        }
    }

    static ETCH_INLINE std::int32_t sum_of_row(const std::uint8_t* masks, std::uint32_t k) noexcept {
        const std::size_t words = (k + kMaskedValues - 1) / kMaskedValues;
        std::int32_t sum;
        std::memcpy(&sum, masks + words * sizeof(StepMasks), sizeof sum);
        return sum;
    }

    // Of at most kShortRow values.
    static ETCH_INLINE std::int32_t short_first_sum(const std::uint8_t* a, std::uint32_t k) noexcept {
        return weighted_sum(a, k, [&](__m256i words) ETCH_INLINE_BODY {
            return Weights::kNeedsSigns ? _mm256_srai_epi16(words, 15) : _mm256_set1_epi16(-Weights::kShift);
        });
    }

    // What a step with signs adds to the sum of a row whose shift is taken away: 128 * a, and -a of negative values.
    static ETCH_INLINE std::int32_t signed_first_sum(const std::uint8_t* a) noexcept {
        const __m128i values = _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(a)));
        const __m128i factors = _mm_add_epi16(_mm_srai_epi16(values, 15), _mm_set1_epi16(Weights::kShift));
        return sum_of_lanes(_mm_madd_epi16(values, factors));
    }
};
