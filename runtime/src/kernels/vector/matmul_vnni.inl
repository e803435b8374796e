// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by vpdpbusd, tiles of 6 rows x 16 kMostPanels columns, the whole K in registers. Included
// inside the namespaces of avx_vnni and avx512_vnni, behind their Ints.
//
// a       [rows][k], encoded as u8 = q + 128; 128 up to a multiple of kEncodedPadding values; row stride in bytes, any
//         alignment.
// weights [n][k] s8 in Packing::panel, made by codegen/pack.py or by the Pack ops for keys and values; zeros up to a
//         multiple of 4 k; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 5 rows have their own tiles), any n (groups of kMostPanels panels, then half as many, then 1;
// the last panel may be cut), any k up to 65,536.
//
// A panel's 4 k x 16 columns are one Ints; vpdpbusd multiplies unsigned by signed bytes, 4 broadcast bytes of a by
// them, and adds the four products to int32, which wraps and does not saturate. With AVX-512, 24 sums, 4 registers of
// weights and one of a leave 3 of the 32 unused; per 24 multiplications 4 loads and 6 broadcasts. With AVX-VNNI 12
// sums, 2 of weights and one of a are all but one of the 16.
//
// The offset. With many rows a is the unsigned operand, its 128 contributes 128 * sum of w to a column, and a column's
// sums begin at minus that: one pass over the group's weights finds it for all rows, bringing the weights to the first
// row tile on its way. That pass costs as much as one row more, so with few rows both operands are shifted by 128 as
// they are loaded (the exclusive or runs beside the multiplications on Zen 4): the weights are the unsigned operand,
// and what their 128 contributes, 128 * sum of q, is one number for a row.

constexpr std::uint8_t kEncodedBytes = 1;
constexpr std::uint32_t kFewRows = 12;
constexpr std::int32_t kEveryTopBit = -0x7F7F7F80;  // 0x80808080

// Encodes rne(x), |x| <= 127.
ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    const __m128i bytes = _mm_xor_si128(round_to_bytes(x), _mm_set1_epi8(-128));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(encoded), bytes);
}

ETCH_INLINE Ints broadcast_4_bytes(const std::uint8_t* p) noexcept {
    std::int32_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return all_ints(bytes);
}

// Where the sums of the columns of kPanels panels begin: -128 * (sum over k of w).
template <unsigned kPanels>
ETCH_INLINE void first_sums_of_columns(const std::int8_t* weights, std::uint32_t groups, std::size_t panel_bytes,
                                       std::int32_t (&sums)[kPanels * 16]) noexcept {
    const Ints offset = all_ints(kEveryTopBit);  // u8 128
    Ints totals[kPanels];
    ETCH_UNROLL
    for (unsigned p = 0; p < kPanels; ++p)
        totals[p] = all_ints(0);
    for (std::uint32_t g = 0; g < groups; ++g) {
        ETCH_UNROLL
        for (unsigned p = 0; p < kPanels; ++p)
            totals[p] = dot(totals[p], offset, load_ints(weights + p * panel_bytes));
        weights += 64;
    }
    ETCH_UNROLL
    for (unsigned p = 0; p < kPanels; ++p) {
        keep_in_registers(totals[p]);
        store_ints(sums + p * 16, minus(totals[p]));
    }
}

// Where the sums of an encoded row begin: -128 * (sum over k of q).
ETCH_INLINE std::int32_t first_sum_of_row(const std::uint8_t* a, std::uint32_t k) noexcept {
    __m128i sums = _mm_setzero_si128();
    const std::uint32_t padded = static_cast<std::uint32_t>(round_up(k, kEncodedPadding));
    for (std::uint32_t i = 0; i < padded; i += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i));
        sums = _mm_add_epi32(sums, _mm_sad_epu8(bytes, _mm_setzero_si128()));
    }
    const std::int32_t sum = _mm_cvtsi128_si32(_mm_add_epi32(sums, _mm_unpackhi_epi64(sums, sums)));
    return 128 * (128 * static_cast<std::int32_t>(padded) - sum);
}

// What a tile knows of where its sums begin, and its operands. `top_bits` is kEveryTopBit in every lane, in a register.
template <unsigned kColumnCount>
struct ByColumns {
    std::int32_t sums[kColumnCount];

    Ints first(unsigned panel, std::uint32_t) const noexcept { return load_ints(sums + panel * 16); }
    static Ints a_operand(const std::uint8_t* a, Ints) noexcept { return broadcast_4_bytes(a); }
    static Ints w_operand(const std::int8_t* w, Ints) noexcept { return load_ints(w); }
    static Ints add_products(Ints sum, Ints a, Ints w) noexcept { return dot(sum, a, w); }
};
struct ByRows {
    const std::int32_t* sums;  // [rows]

    Ints first(unsigned, std::uint32_t row) const noexcept { return all_ints(sums[row]); }
    static Ints a_operand(const std::uint8_t* a, Ints top_bits) noexcept {
        return exclusive_or(top_bits, broadcast_4_bytes(a));
    }
    static Ints w_operand(const std::int8_t* w, Ints top_bits) noexcept { return exclusive_or(top_bits, load_ints(w)); }
    static Ints add_products(Ints sum, Ints a, Ints w) noexcept { return dot(sum, w, a); }
};

// The hardware does not follow the weights from the last tile of rows to the next group of panels: 2 % of a layer at
// 221 rows, 3 % at 44, measured with AVX-512 on Zen 4. Fetched at once they cost as much as they bring, so it is one
// line for each 4 k of a tile. Behind the last group there is nothing to fetch, which does no harm: an address is all
// that is made of it.
ETCH_INLINE void prefetch(const std::int8_t* weights, std::size_t ahead) noexcept {
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(weights) + ahead;
    _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T1);
}

template <unsigned kCount, class Offset>
struct TileS8 {
    static constexpr unsigned kPanels = kCount;
    static constexpr unsigned kMaxRows = 6;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const Offset& offset, const Columns<kPanels>& columns,
                                  const std::int8_t* weights, std::uint32_t row) noexcept {
        const std::uint32_t groups = (m.k + 3) / 4;
        const std::size_t panel_bytes = std::size_t{groups} * 64;
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        // Each tile of rows fetches one panel of the next group; in turn, so that a product of many rows has them all.
        const std::size_t ahead = (kPanels + row / kMaxRows % kPanels) * panel_bytes;
        Ints top_bits = all_ints(kEveryTopBit);
        keep_in_registers(top_bits);  // clang 14 otherwise flips the bits of a before it broadcasts them: one step more
        Ints sums[kRows][kPanels];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                sums[r][p] = offset.first(p, row + r);
        }
        for (std::uint32_t g = 0; g < groups; ++g) {
            Ints w[kPanels];
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                w[p] = Offset::w_operand(weights + p * panel_bytes, top_bits);
            if constexpr (kPanels == 4) prefetch(weights, ahead);  // with AVX-VNNI clang 14 runs out of registers
            weights += 64;
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r) {
                const Ints four = Offset::a_operand(a + r * a_stride, top_bits);
                ETCH_UNROLL
                for (unsigned p = 0; p < kPanels; ++p)
                    sums[r][p] = Offset::add_products(sums[r][p], four, w[p]);
            }
            a += 4;
        }
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                keep_in_registers(sums[r][p]);
        }
        finish_tile_s8(m, row, columns, sums);
    }
};

template <unsigned kPanels>
ETCH_NOINLINE void multiply_group_by_columns(const MatmulS8& m, std::uint32_t panel,
                                             const std::int8_t* weights) noexcept {
    const std::uint32_t groups = (m.k + 3) / 4;
    const Columns<kPanels> columns(panel, m.n, m.column_scales, m.bias);
    alignas(64) ByColumns<kPanels * 16> offset;
    first_sums_of_columns<kPanels>(weights, groups, std::size_t{groups} * 64, offset.sums);
    for_each_tile<TileS8<kPanels, ByColumns<kPanels * 16>>>(m, offset, columns, weights);
}

template <unsigned kPanels>
ETCH_NOINLINE void multiply_group_by_rows(const MatmulS8& m, std::uint32_t panel, const std::int8_t* weights,
                                          const std::int32_t* row_sums) noexcept {
    const Columns<kPanels> columns(panel, m.n, m.column_scales, m.bias);
    for_each_tile<TileS8<kPanels, ByRows>>(m, ByRows{row_sums}, columns, weights);
}

// Panels from `panel` on in groups of kPanels, as far as these fit before `last`, then in smaller ones; `row_sums` is
// null to go by columns. With few rows there are groups of kMostPanels and single panels only.
template <unsigned kPanels>
ETCH_INLINE void multiply_groups(const MatmulS8& m, const std::int32_t* row_sums, std::uint32_t panel,
                                 std::uint32_t last) noexcept {
    // Several panels at once are whole.
    const std::uint32_t end = kPanels > 1 && m.n / 16 < last ? m.n / 16 : last;
    for (; panel + kPanels <= end; panel += kPanels) {
        const std::int8_t* weights = m.weights + std::size_t{panel} * ((m.k + 3) / 4) * 64;
        if (row_sums == nullptr) {
            multiply_group_by_columns<kPanels>(m, panel, weights);
        } else if constexpr (kPanels == kMostPanels || kPanels == 1) {
            multiply_group_by_rows<kPanels>(m, panel, weights, row_sums);
        } else {
            break;
        }
    }
    if constexpr (kPanels > 1) multiply_groups<kPanels / 2>(m, row_sums, panel, last);
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    std::int32_t row_sums[kFewRows];
    const bool few = m.rows <= kFewRows;
    for (std::uint32_t row = 0; few && row < m.rows; ++row)
        row_sums[row] = first_sum_of_row(m.a.data + row * m.a.stride_bytes, m.k);
    multiply_groups<kMostPanels>(m, few ? row_sums : nullptr, first_panel, last_panel);
}
