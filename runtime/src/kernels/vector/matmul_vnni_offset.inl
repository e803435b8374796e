// SPDX-License-Identifier: Apache-2.0
// What vpdpbusd multiplies, and where its sums begin: an operand is unsigned. Included inside the namespaces of
// avx_vnni and avx512_vnni, behind their Ints.
//
// The offset. With many rows a is the unsigned operand, its 128 contributes 128 * sum of w to a column, and a column's
// sums begin at minus that. The first tile finds it: it has one row more, all 128. With few rows both operands are
// shifted by 128, a as it is copied, the weights as they are loaded: the weights are the unsigned operand, and what
// their 128 contributes, 128 * sum of q, is one number for a row.
//
// On Zen 4 the exclusive or runs beside the multiplications. There rows are plain, q, and the weights are shifted
// whatever the number of rows: no column is summed, and no row is copied for its sign.

constexpr std::uint8_t kEncodedBytes = 1;
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

constexpr unsigned kHalfOfATile = kMostPanels * (kMostRows + 1) / 2;  // registers of sums

// Where a tile's sums begin, and what its operands are. `top_bits` is kEveryTopBit in every lane, in a register.
// Tiles of kLeastSums registers of sums and more are those that dequantize there.
struct UnsignedRows {
    static constexpr unsigned kLeastSums = kHalfOfATile;
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
// Weights are shifted, rows are q.
struct UnsignedWeights {
    static constexpr bool kFindsColumns = false;
    const std::int32_t* sums;  // [rows of the tile]

    explicit UnsignedWeights(const std::int32_t* of_rows) noexcept : sums(of_rows) {}
    Ints first(unsigned, std::uint32_t row) const noexcept { return all_ints(sums[row]); }
    static Ints w_operand(const std::int8_t* w, Ints top_bits) noexcept { return exclusive_or(top_bits, load_ints(w)); }
    static Ints add_products(Ints sum, Ints a, Ints w) noexcept { return dot(sum, w, a); }
};
// Rows are encoded as q + 128.
struct ByRows : UnsignedWeights {
    static constexpr unsigned kLeastSums = kHalfOfATile;
    static constexpr bool kFlipsRows = true;
    static constexpr bool kPrefetches = false;
    static constexpr std::int32_t kFlip = 0;  // of first_sum_of_row
    static constexpr bool copied = true;

    ByRows(const std::int32_t* of_rows, bool) noexcept : UnsignedWeights(of_rows) {}
};
// Rows are encoded as q.
struct ByPlainRows : UnsignedWeights {
    static constexpr unsigned kLeastSums = kMostPanels * (kMostRows - 2);
    static constexpr bool kFlipsRows = false;
    static constexpr bool kPrefetches = true;
    static constexpr std::int32_t kFlip = kEveryTopBit;
    bool copied;

    ByPlainRows(const std::int32_t* of_rows, bool copied_rows) noexcept
        : UnsignedWeights(of_rows), copied(copied_rows) {}
};
