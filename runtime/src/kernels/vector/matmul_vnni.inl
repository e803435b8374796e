// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by vpdpbusd, tiles of kMostRows rows x 16 kMostPanels columns, the whole K in registers.
// Included inside the namespaces of avx_vnni and avx512_vnni, behind their Ints.
//
// a       [rows][k], encoded as u8 = q + 128; 128 up to a multiple of kEncodedPadding values; row stride in bytes, any
//         alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack.py or by the Pack ops for keys and values; zeros
//         up to a multiple of 4 k; any alignment, a multiple of 64 bytes is a tenth faster.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows, in tiles of nearly the same number; any n (groups of kMostPanels panels and smaller ones; the last panel
// may be cut); any k up to 65,536.
//
// A panel's 4 k x 16 columns are one Ints; vpdpbusd multiplies unsigned by signed bytes, 4 broadcast bytes of a by
// them, and adds the four products to int32, which wraps and does not saturate. With AVX-512, 9 x 48: 27 sums, 3
// registers of weights and one of a leave one of the 32; per 27 multiplications 3 loads and 9 broadcasts. With two
// ports that multiply a group of 4 k takes 13.5 cycles, in which the 3 lines come from the second cache even where a
// group of panels exceeds the first (6 x 64 has 4 lines in 12 cycles, and that shows from k = 1,536 on; 12 x 32 has 14
// loads for 24). With AVX-VNNI, 6 x 16: 12 sums, 2 of weights and one of a are all but one of the 16.
//
// The rows of a tile may be copied 64 k at a time to where they lie next to each other: one address for all of them,
// and rows whose stride is a power of two do not push each other out of the cache. With few rows they always are.
//
// The offset. With many rows a is the unsigned operand, its 128 contributes 128 * sum of w to a column, and a column's
// sums begin at minus that. The first tile finds it: it has one row more, all 128. With few rows both
// operands are shifted by 128, a as it is copied, the weights as they are loaded (on Zen 4 the exclusive or runs beside
// the multiplications): the weights are the unsigned operand, and what their 128 contributes, 128 * sum of q, is one
// number for a row.
//
// Code is bounded: the largest tiles dequantize in their registers, the others leave their sums in memory to
// finish_panel().

constexpr std::uint8_t kEncodedBytes = 1;
constexpr unsigned kMostByRows = kMostRows - 1;     // one row more, and GCC 12 runs out of registers
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

// From one panel of the weights to the next.
ETCH_INLINE std::size_t panel_bytes_of(const MatmulS8& m) noexcept {
    return std::size_t{(m.allocated_k + 3) / 4} * 64;
}

// Where the sums of an encoded row begin: -128 * (sum over k of q). Its bytes exclusive-or `flip` are q + 128.
ETCH_INLINE std::int32_t first_sum_of_row(const std::uint8_t* a, std::uint32_t k, std::int32_t flip = 0) noexcept {
    __m128i sums = _mm_setzero_si128();
    const std::uint32_t padded = static_cast<std::uint32_t>(round_up(k, kEncodedPadding));
    for (std::uint32_t i = 0; i < padded; i += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i));
        const __m128i shifted = _mm_xor_si128(bytes, _mm_set1_epi32(flip));
        sums = _mm_add_epi32(sums, _mm_sad_epu8(shifted, _mm_setzero_si128()));
    }
    const std::int32_t sum = _mm_cvtsi128_si32(_mm_add_epi32(sums, _mm_unpackhi_epi64(sums, sums)));
    return 128 * (128 * static_cast<std::int32_t>(padded) - sum);
}

// Where a tile's sums begin, and what its operands are. `top_bits` is kEveryTopBit in every lane, in a register.
struct UnsignedRows {
    static constexpr bool kFlipsRows = false;
    static constexpr bool kPrefetches = true;

    static Ints w_operand(const std::int8_t* w, Ints) noexcept { return load_ints(w); }
    static Ints add_products(Ints sum, Ints a, Ints w) noexcept { return dot(sum, a, w); }
};
struct ByColumns : UnsignedRows {
    static constexpr bool kFindsColumns = false;
    const std::int32_t* sums;  // [columns of the tile]
    bool copied;

    ByColumns(const std::int32_t* found, bool copied_rows) noexcept : sums(found), copied(copied_rows) {}
    Ints first(unsigned panel, std::uint32_t) const noexcept { return load_ints(sums + panel * 16); }
};
// The first tile: what it finds is where the others begin.
struct FindsColumns : UnsignedRows {
    static constexpr bool kFindsColumns = true;
    std::int32_t* sums;  // [columns of the tile]
    bool copied;

    FindsColumns(std::int32_t* found, bool copied_rows) noexcept : sums(found), copied(copied_rows) {}
    static Ints first(unsigned, std::uint32_t) noexcept { return all_ints(0); }
};
struct ByRows {
    static constexpr bool kFlipsRows = true;
    static constexpr bool kPrefetches = false;
    static constexpr bool kFindsColumns = false;
    static constexpr bool copied = true;
    const std::int32_t* sums;  // [rows of the tile]

    Ints first(unsigned, std::uint32_t row) const noexcept { return all_ints(sums[row]); }
    static Ints w_operand(const std::int8_t* w, Ints top_bits) noexcept { return exclusive_or(top_bits, load_ints(w)); }
    static Ints add_products(Ints sum, Ints a, Ints w) noexcept { return dot(sum, w, a); }
};

// The hardware does not follow the weights from the last tile of rows to the next group of panels: 2 % of a layer at
// 221 rows, 3 % at 44, measured on Zen 4. Fetched at once they cost as much as they bring, so it is one line for each 4
// k of a tile. Behind the last group there is nothing to fetch, which does no harm: an address is all that is made of
// it. Of few rows, which are bound by how fast weights come from the second or third cache, it costs 3 to 20 %: there
// every line is fetched once, and the hardware follows.
ETCH_INLINE void prefetch(const std::int8_t* weights, std::size_t ahead) noexcept {
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(weights) + ahead), _MM_HINT_T1);
}

constexpr std::uint32_t kChunk = 64;  // k of a tile's rows at a time

// The next k of a tile's rows, those that `fours` say of kChunk, one row behind the other.
template <unsigned kRows, bool kFlip, class Lanes>
ETCH_INLINE void copy_fours(const std::uint8_t* a, std::size_t stride, const Lanes& fours, Ints top_bits,
                            std::uint8_t (&chunk)[kRows * kChunk]) noexcept {
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        const Ints values = bits_of(fours.read(reinterpret_cast<const float*>(a + r * stride)));
        store_ints(chunk + r * kChunk, kFlip ? exclusive_or(top_bits, values) : values);
    }
}
template <unsigned kRows, bool kFlip>
ETCH_INLINE void copy_chunk(const std::uint8_t* a, std::size_t stride, std::uint32_t count, Ints top_bits,
                            std::uint8_t (&chunk)[kRows * kChunk]) noexcept {
    if (count == kChunk) return copy_fours<kRows, kFlip>(a, stride, AllLanes<Floats>{}, top_bits, chunk);
    copy_fours<kRows, kFlip>(a, stride, FirstLanes((count + 3) / 4), top_bits, chunk);
}

// The output of a tile from its registers; an activation follows later or not at all. `last` are the columns of the
// last panel that exist.
template <unsigned kRows, unsigned kSums, unsigned kPanels, class Lanes>
ETCH_INLINE void store_from_registers(const MatmulS8& m, std::uint32_t row, std::uint32_t column,
                                      const Ints (&sums)[kSums][kPanels], const Lanes& last) noexcept {
    const auto read = [&](const float* values, unsigned p)
                          ETCH_INLINE_BODY { return p + 1 == kPanels ? last.read(values) : load<Floats>(values); };
    const float* const column_scales = m.column_scales == nullptr ? kOnes.values : m.column_scales + column;
    const float* const columns_bias = m.bias == nullptr ? kZeros.values : m.bias + column;
    const std::size_t next_scales = m.column_scales == nullptr ? 0 : 16;
    const std::size_t next_bias = m.bias == nullptr ? 0 : 16;
    Floats y[kRows][kPanels];
    ETCH_UNROLL
    for (unsigned p = 0; p < kPanels; ++p) {
        const Floats scales = read(column_scales + p * next_scales, p);
        const Floats bias = read(columns_bias + p * next_bias, p);
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            y[r][p] = add(mul(mul(to_floats(sums[r][p]), all<Floats>(m.a.scales[row + r])), scales), bias);
    }
    const std::size_t at = row * m.out_stride + column;
    if (m.residual != nullptr) {
        const float* residual = m.residual + at;
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                y[r][p] = add(y[r][p], read(residual + p * 16, p));
            residual += m.out_stride;
        }
    }
    float* out = m.out + at;
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        ETCH_UNROLL
        for (unsigned p = 0; p < kPanels; ++p) {
            if (p + 1 == kPanels) {
                last.write(out + p * 16, y[r][p]);
            } else {
                store(out + p * 16, y[r][p]);
            }
        }
        out += m.out_stride;
    }
}

template <unsigned kCount, class Offset>
struct TileS8 {
    static constexpr unsigned kPanels = kCount;

    // kRows rows from `row` on, whole panels from `panel` on or, the last of them, one that is cut; fetches the weights
    // that are `ahead` bytes on where there may be many tiles.
    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const Offset& offset, std::uint32_t panel, std::uint32_t row,
                                  std::size_t ahead) noexcept {
        // Its code is short; a product has few such tiles.
        constexpr bool kByMemory = kPanels <= kMostPanels && kPanels * kRows < kMostPanels * (kMostRows + 1) / 2;
        constexpr unsigned kSums = kRows + (Offset::kFindsColumns ? 1 : 0);
        const std::size_t panel_bytes = panel_bytes_of(m);
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        const std::int8_t* weights = m.weights + panel * panel_bytes;
        Ints top_bits = all_ints(kEveryTopBit);
        keep_in_registers(top_bits);
        Ints sums[kSums][kPanels];
        ETCH_UNROLL
        for (unsigned r = 0; r < kSums; ++r) {
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                sums[r][p] = offset.first(p, r);
        }
        {  // what follows may have the place of the chunk
            alignas(64) std::uint8_t chunk[kRows * kChunk];
            const bool copied = offset.copied;
            const std::size_t stride = copied ? kChunk : a_stride;
            for (std::uint32_t left = m.k; left != 0;) {
                const std::uint32_t now = copied && left > kChunk ? kChunk : left;
                if (copied) copy_chunk<kRows, Offset::kFlipsRows>(a, a_stride, now, top_bits, chunk);
                const std::uint8_t* four = copied ? chunk : a;
                a += now;
                left -= now;
                for (const std::uint8_t* const end = four + now; four < end; four += 4) {
                    Ints w[kPanels];
                    ETCH_UNROLL
                    for (unsigned p = 0; p < kPanels; ++p)
                        w[p] = Offset::w_operand(weights + p * panel_bytes, top_bits);
                    if constexpr (Offset::kPrefetches) prefetch(weights, ahead);
                    weights += 64;
                    ETCH_UNROLL
                    for (unsigned r = 0; r < kRows; ++r) {
                        const Ints a_four = broadcast_4_bytes(four + r * stride);
                        ETCH_UNROLL
                        for (unsigned p = 0; p < kPanels; ++p)
                            sums[r][p] = Offset::add_products(sums[r][p], a_four, w[p]);
                    }
                    if constexpr (Offset::kFindsColumns) {
                        ETCH_UNROLL
                        for (unsigned p = 0; p < kPanels; ++p)
                            sums[kRows][p] = dot(sums[kRows][p], top_bits, w[p]);
                    }
                }
            }
        }
        ETCH_UNROLL
        for (unsigned r = 0; r < kSums; ++r) {
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                keep_in_registers(sums[r][p]);
        }
        if constexpr (Offset::kFindsColumns) {
            ETCH_UNROLL
            for (unsigned p = 0; p < kPanels; ++p) {
                store_ints(offset.sums + p * 16, minus(all_ints(0), sums[kRows][p]));
                ETCH_UNROLL
                for (unsigned r = 0; r < kRows; ++r)
                    sums[r][p] = minus(sums[r][p], sums[kRows][p]);
            }
        }
        // A store under a mask, even one of all lanes, makes Zen 4 wait until it is in the cache before it loads what
        // was stored, as an activation does: whole panels are stored without.
        const std::uint32_t last_columns = m.n - (panel + kPanels - 1) * 16;
        if constexpr (!kByMemory) {
            if (last_columns >= 16 && (kActivatesBlocks || m.activation == Activation::none))
                return store_from_registers<kRows>(m, row, panel * 16, sums, AllLanes<Floats>{});
        }
        alignas(64) std::int32_t of_panel[kRows * 16];
        ETCH_UNROLL
        for (unsigned p = 0; p < kPanels; ++p) {
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r)
                store_ints(of_panel + r * 16, sums[r][p]);
            finish_panel(m, row, kRows, panel + p, of_panel);
        }
    }
};

// The tile of `count` rows, one of kLeast to kMost.
template <class Tile, unsigned kLeast, unsigned kMost, class... Arguments>
ETCH_INLINE void tile_of(std::uint32_t count, const Arguments&... arguments) noexcept {
    if constexpr (kMost > kLeast) {
        if (count != kMost) return tile_of<Tile, kLeast, kMost - 1>(count, arguments...);
    }
    Tile::template run<kMost>(arguments...);
}

// What is left of a tile's activation.
ETCH_INLINE void activate_rows(const MatmulS8& m, std::uint32_t row, std::uint32_t rows, std::uint32_t panel,
                               std::uint32_t panels) noexcept {
    const std::uint32_t columns = m.n - panel * 16;
    activate_block(m, row, rows, panel * 16, columns < panels * 16 ? columns : panels * 16);
}

// A group of panels times more than 2 kMostByRows rows: the tile that finds where columns begin, then tiles of nearly
// the same number of rows.
template <unsigned kPanels>
ETCH_NOINLINE void multiply_by_columns(const MatmulS8& m, std::uint32_t panel, bool copied) noexcept {
    constexpr unsigned kFirstRows = kMostRows - 1;
    constexpr unsigned kLeastRows = (kMostRows + 1) / 2;
    const std::size_t panel_bytes = panel_bytes_of(m);
    alignas(64) std::int32_t sums[kPanels * 16];
    TileS8<kPanels, FindsColumns>::template run<kFirstRows>(m, FindsColumns(sums, copied), panel, 0,
                                                            kPanels * panel_bytes);
    activate_rows(m, 0, kFirstRows, panel, kPanels);
    std::uint32_t tiles = (m.rows - kFirstRows + kMostRows - 1) / kMostRows;
    for (std::uint32_t row = kFirstRows; row < m.rows; --tiles) {
        const std::uint32_t count = (m.rows - row) / tiles;
        // Each tile of rows fetches one panel of the next group; in turn, so that a product of many rows has them all.
        const std::size_t ahead = (kPanels + tiles % kPanels) * panel_bytes;
        tile_of<TileS8<kPanels, ByColumns>, kLeastRows, kMostRows>(count, m, ByColumns(sums, copied), panel, row,
                                                                   ahead);
        activate_rows(m, row, count, panel, kPanels);
        row += count;
    }
}

constexpr std::uint32_t kFewRows = 2 * kMostByRows;

// A group of panels times m's rows, up to kFewRows, in tiles of nearly the same number, kLeast to kMost.
template <unsigned kPanels, unsigned kLeast, unsigned kMost>
ETCH_NOINLINE void multiply_by_rows(const MatmulS8& m, std::uint32_t panel, const std::int32_t* row_sums) noexcept {
    std::uint32_t tiles = (m.rows + kMost - 1) / kMost;
    for (std::uint32_t row = 0; row < m.rows; --tiles) {
        const std::uint32_t count = (m.rows - row) / tiles;
        tile_of<TileS8<kPanels, ByRows>, kLeast, kMost>(count, m, ByRows{row_sums + row}, panel, row, std::size_t{0});
        activate_rows(m, row, count, panel, kPanels);
        row += count;
    }
}

// Many rows: panels from `panel` on in groups of kPanels, as far as these fit before `last`, then in smaller ones: of
// four that are left, two and two.
template <unsigned kPanels>
ETCH_INLINE void multiply_many(const MatmulS8& m, std::uint32_t panel, std::uint32_t last, bool copied) noexcept {
    for (; panel + kPanels <= last && (kPanels < 3 || panel + kPanels + 1 != last); panel += kPanels)
        multiply_by_columns<kPanels>(m, panel, copied);
    if constexpr (kPanels > 1) multiply_many<kPanels - 1>(m, panel, last, copied);
}

// Up to kFewRows rows: single panels behind the groups, in small tiles, for there are few of them.
template <unsigned kPanels, unsigned kLeast, unsigned kMost>
ETCH_INLINE void multiply_few(const MatmulS8& m, const std::int32_t* row_sums, std::uint32_t panel,
                              std::uint32_t last) noexcept {
    for (; panel + kPanels <= last; panel += kPanels)
        multiply_by_rows<kPanels, kLeast, kMost>(m, panel, row_sums);
    if constexpr (kPanels > 1) multiply_few<1, 2, kMostRows / 2>(m, row_sums, panel, last);
}

// One row times a panel is bound by how fast the weights come. They lie one behind the other through all panels: read
// so, they come from the third cache at 84 to 92 % of what reading alone reaches, several panels at a time at 75 to 92
// %, fetched ahead by instructions at 73 %, measured on Zen 4. The sums take turns, so that none is waited for.
constexpr unsigned kSumsOfARow = kMostPanels > 1 ? 8 : 4;

ETCH_NOINLINE void multiply_row(const MatmulS8& m, std::uint32_t panel, std::int32_t row_sum) noexcept {
    const std::int8_t* weights = m.weights + panel * panel_bytes_of(m);
    const std::uint8_t* a = m.a.data;
    Ints top_bits = all_ints(kEveryTopBit);
    keep_in_registers(top_bits);
    Ints sums[kSumsOfARow];
    ETCH_UNROLL
    for (unsigned i = 0; i < kSumsOfARow; ++i)
        sums[i] = all_ints(i == 0 ? row_sum : 0);
    const auto add_four = [&](const std::uint8_t* four, Ints& sum) ETCH_INLINE_BODY {
        sum = ByRows::add_products(sum, broadcast_4_bytes(four), ByRows::w_operand(weights, top_bits));
        weights += 64;
    };
    for (std::uint32_t left = m.k; left != 0;) {
        alignas(64) std::uint8_t chunk[kChunk];
        const std::uint32_t now = left > kChunk ? kChunk : left;
        copy_chunk<1, ByRows::kFlipsRows>(a, 0, now, top_bits, chunk);
        a += now;
        left -= now;
        std::uint32_t k = 0;
        for (; k + 4 * kSumsOfARow <= now; k += 4 * kSumsOfARow) {
            ETCH_UNROLL
            for (unsigned i = 0; i < kSumsOfARow; ++i)
                add_four(chunk + k + 4 * i, sums[i]);
        }
        for (; k < now; k += 4)
            add_four(chunk + k, sums[0]);
    }
    ETCH_UNROLL
    for (unsigned i = 1; i < kSumsOfARow; ++i)
        sums[0] = plus(sums[0], sums[i]);
    alignas(64) std::int32_t of_panel[16];
    store_ints(of_panel, sums[0]);
    finish_panel(m, 0, 1, panel, of_panel);
}

// Two to kMostRows / 2 rows are multiplied by more panels at a time: there must be enough sums to wait for none.
ETCH_NOINLINE void multiply_few_rows(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    constexpr unsigned kManyPanels = kMostRows / 2;
    std::int32_t row_sums[kFewRows];
    for (std::uint32_t row = 0; row < m.rows; ++row)
        row_sums[row] = first_sum_of_row(m.a.data + row * m.a.stride_bytes, m.k);
    if (m.rows == 1) {
        for (std::uint32_t panel = first_panel; panel < last_panel; ++panel)
            multiply_row(m, panel, row_sums[0]);
        activate_rows(m, 0, 1, first_panel, last_panel - first_panel);
    } else if (m.rows <= kManyPanels) {
        multiply_few<kFewRowsPanels, 2, kManyPanels>(m, row_sums, first_panel, last_panel);
    } else {
        multiply_few<kMostPanels, kMostByRows / 2, kMostByRows>(m, row_sums, first_panel, last_panel);
    }
}

// `copied`: many rows are copied, too.
ETCH_INLINE void multiply(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel,
                          bool copied) noexcept {
    if (one_by_one(m)) {
        return multiply_one_by_one(m, first_panel, last_panel, [](MatmulS8& one, std::uint32_t panel) ETCH_INLINE_BODY {
            one.weights += packed_s8_bytes(Packing::panel, panel * 16, one.allocated_k);
            multiply_few_rows(one, 0, 1);
        });
    }
    if (m.rows > kFewRows) return multiply_many<kMostPanels>(m, first_panel, last_panel, copied);
    multiply_few_rows(m, first_panel, last_panel);
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    multiply(m, first_panel, last_panel, m.k >= kCopiedFrom);
}
