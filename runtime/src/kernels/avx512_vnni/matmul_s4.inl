// SPDX-License-Identifier: Apache-2.0
// s8 x s4 -> s32 -> f32 for few rows: nibbles become bytes in the tile, not in scratch, so that half as many bytes come
// from memory. Included inside the namespace of avx512_vnni, behind matmul_vnni.inl. Operands as there; weights and
// factors as packing.hpp has them in Packing::panel, for m.k inputs.
//
// The weights are the unsigned operand, as q + 8; what their 8 contributes in a group of 32 k, 8 * the sum of its a, is
// where the group's sums begin. The factor of a column is one within a group: it multiplies the group's sum, at most 32
// * 127 * 8 = 32,512, which fits the low word of its lane (vpmaddwd). The integers are those of the s8 product, and so
// are the bits.
//
// Rows are encoded as this set has them, q + 128, or as amx_int8 has them, q.

using common::kMostRowsS4;

enum class RowsS4 : std::int32_t { shifted = kEveryTopBit, plain = 0 };  // exclusive-or it, bytes are q

ETCH_INLINE Ints low_nibbles(Ints bytes) noexcept {
    return {_mm512_and_si512(bytes.lanes, _mm512_set1_epi32(0x0F0F0F0F))};
}
ETCH_INLINE Ints high_nibbles(Ints bytes) noexcept {
    return low_nibbles({_mm512_srli_epi16(bytes.lanes, 4)});
}
ETCH_INLINE Ints load_16_factors(const std::uint8_t* factors) noexcept {
    return {_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(factors)))};
}
// The product of the low words of each lane.
ETCH_INLINE Ints scale_words(Ints sums, Ints factors) noexcept {
    return {_mm512_madd_epi16(sums.lanes, factors.lanes)};
}

// kRows rows, all that m has, times kPanels panels from `panel` on, without the activation: both need much of the
// stack, and so do not need it at once.
template <unsigned kRows, unsigned kPanels>
ETCH_NOINLINE void multiply_s4(const MatmulS8& m, RowsS4 rows, const std::uint8_t* factors,
                               std::uint32_t panel) noexcept {
    const std::size_t panel_bytes = packed_s4_bytes(Packing::panel, 16, m.k);
    const std::size_t panel_factors = packed_s4_factors(Packing::panel, 16, m.k);
    const std::int8_t* weights = m.weights + panel * panel_bytes;
    const std::size_t a_stride = m.a.stride_bytes;
    const std::uint8_t* a = m.a.data;
    factors += panel * panel_factors;
    const std::int32_t to_q = static_cast<std::int32_t>(rows);
    Ints flip = all_ints(to_q);
    keep_in_registers(flip);
    const Ints eights = all_ints(static_cast<std::int32_t>(0x88888888));
    Ints sums[kRows][kPanels];
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        ETCH_UNROLL
        for (unsigned p = 0; p < kPanels; ++p)
            sums[r][p] = all_ints(0);
    }
    for (std::uint32_t left = m.k; left != 0;) {
        const std::uint32_t inputs = left < kS4Group ? left : kS4Group;
        alignas(64) std::uint8_t chunk[kRows * kChunk];
        copy_chunk<kRows, true>(a, a_stride, static_cast<std::uint32_t>(round_up(inputs, kEncodedPadding)), flip,
                                chunk);
        Ints group[kRows][kPanels];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const Ints first = all_ints(first_sum_of_row(a + r * a_stride, inputs, to_q ^ kEveryTopBit) / 16);
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                group[r][p] = first;
        }
        const std::uint8_t* four = chunk;
        for (std::uint32_t i = 0; i < inputs; i += 8) {
            Ints low[kPanels];
            Ints high[kPanels];
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p) {
                const Ints q = exclusive_or(eights, load_ints(weights + p * panel_bytes));
                low[p] = low_nibbles(q);
                high[p] = high_nibbles(q);
            }
            weights += 64;
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r) {
                const Ints first_four = broadcast_4_bytes(four + r * kChunk);
                const Ints second_four = broadcast_4_bytes(four + r * kChunk + 4);
                ETCH_UNROLL
                for (unsigned p = 0; p < kPanels; ++p) {
                    group[r][p] = dot(group[r][p], low[p], first_four);
                    keep_in_registers(group[r][p]);
                    group[r][p] = dot(group[r][p], high[p], second_four);
                    keep_in_registers(group[r][p]);
                }
            }
            four += 8;
        }
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                keep_in_registers(group[r][p]);
        }
        ETCH_UNROLL
        for (unsigned p = 0; p < kPanels; ++p) {
            const Ints by = load_16_factors(factors + p * panel_factors);
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r)
                sums[r][p] = plus(sums[r][p], scale_words(group[r][p], by));
        }
        factors += 16;
        a += inputs;
        left -= inputs;
    }
    alignas(64) std::int32_t of_panel[kRows * 16];
    ETCH_UNROLL
    for (unsigned p = 0; p < kPanels; ++p) {
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            store_ints(of_panel + r * 16, sums[r][p]);
        finish_panel(m, 0, kRows, panel + p, of_panel);
    }
}
template <unsigned kRows, unsigned kPanels>
ETCH_INLINE void multiply_and_activate_s4(const MatmulS8& m, RowsS4 rows, const std::uint8_t* factors,
                                          std::uint32_t panel) noexcept {
    multiply_s4<kRows, kPanels>(m, rows, factors, panel);
    activate_rows(m, 0, kRows, panel, kPanels);
}

// Fewer rows than kMost + 1, with as many panels at a time as leave the registers enough for a group's sums; the others
// wait in memory. What a group of rows costs besides is shared by these panels: 5 to 8 rows take 30 to 37 % less time
// than with one panel, measured on an Intel CPU with AMX, with either set.
template <unsigned kMost>
ETCH_INLINE void multiply_rows_s4(const MatmulS8& m, RowsS4 rows, const std::uint8_t* factors, std::uint32_t panel,
                                  std::uint32_t last) noexcept {
    if constexpr (kMost > 1) {
        if (m.rows < kMost) return multiply_rows_s4<kMost - 1>(m, rows, factors, panel, last);
    }
    constexpr unsigned kPanels = kMost <= 4 ? 4 : kMost <= 6 ? 3 : 2;
    for (; panel + kPanels <= last; panel += kPanels)
        multiply_and_activate_s4<kMost, kPanels>(m, rows, factors, panel);
    for (; panel < last; ++panel)
        multiply_and_activate_s4<kMost, 1>(m, rows, factors, panel);
}

// Of kMostRowsS4 rows at most. Out of line: three functions are this one.
ETCH_NOINLINE void matmul_s4(const MatmulS8& m, RowsS4 rows, const std::uint8_t* factors, std::uint32_t first_panel,
                             std::uint32_t last_panel) noexcept {
    if (one_by_one(m)) {
        return multiply_one_by_one(m, first_panel, last_panel, [&](MatmulS8& one, std::uint32_t panel) {
            one.weights += packed_s4_bytes(Packing::panel, panel * 16, m.k);
            multiply_and_activate_s4<1, 1>(one, rows, factors + packed_s4_factors(Packing::panel, panel * 16, m.k), 0);
        });
    }
    multiply_rows_s4<kMostRowsS4>(m, rows, factors, first_panel, last_panel);
}

void matmul_s4(const MatmulS8& m, const std::uint8_t* factors, std::uint32_t first_panel,
               std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    matmul_s4(m, RowsS4::shifted, factors, first_panel, last_panel);
}
