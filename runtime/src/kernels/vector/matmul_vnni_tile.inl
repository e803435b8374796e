// SPDX-License-Identifier: Apache-2.0
// A tile of matmul_vnni.inl: some rows times some panels, the whole K in registers. Included inside the namespaces of
// avx_vnni and avx512_vnni, behind matmul_vnni_offset.inl.
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
// Code is bounded: the largest tiles dequantize in their registers, the others leave their sums in memory to
// finish_panel().

// The hardware does not follow the weights from the last tile of rows to the next group of panels: 2 % of a layer at
// 221 rows, 3 % at 44, measured on Zen 4. Fetched at once they cost as much as they bring, so it is one line for each 4
// k of a tile. Behind the last group there is nothing to fetch, which does no harm: an address is all that is made of
// it. Of few rows, which are bound by how fast weights come from the second or third cache, it costs 3 to 20 %: there
// every line is fetched once, and the hardware follows; `ahead` 0 costs nothing that can be measured.
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
        constexpr bool kByMemory = kPanels <= kMostPanels && kPanels * kRows < Offset::kLeastSums;
        constexpr unsigned kSums = kRows + (Offset::kFindsColumns ? 1 : 0);
        const std::size_t panel_bytes = packed_s8_bytes(Packing::panel, kPanelWidth, m.allocated_k);
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
                    if constexpr (Offset::kPrefetches && kPanels <= kMostPanels) prefetch(weights, ahead);
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
