// SPDX-License-Identifier: Apache-2.0
// Rows as avx2 encodes them: plain s8, zeros up to a multiple of 16 and, where they are more than kShortRow values,
// what the products want to know of them: StepMasks of each 512 values and the int32 sum of all, unaligned. Included
// inside the namespace of avx2.
//
// Products of 8 bits are added in 16 as long as they fit: vpmaddubsw multiplies an unsigned operand by a signed one and
// adds pairs, vpaddw two such sums, and vpmaddwd by ones the rest to int32. Weights are made unsigned: with 128 added
// they are at most 255, those of 7 bits with 64 added at most 127. Whether sums fit then depends on the row alone. Of
// what is added, the positive values and the negative ones may each come to 32767 / 255 = 128; for weights of 7 bits,
// 32767 / 127 = 258. Most do: a row's largest value is 127, and few are near it. Masks say where, by steps of 8 k, in
// which a lane of 16 bits gets k 0, 1, 4 and 5 or k 2, 3, 6 and 7.

constexpr std::uint8_t kEncodedBytes = 1;      // of a value
constexpr std::uint8_t kRowBytesPerValue = 2;  // with its part of what follows, in rows of any length

#include "../vector/encode_row.inl"

// The largest of few values is not much larger than the others: most steps of a head's queries would be multiplied with
// signs, whatever the masks.
constexpr std::uint32_t kShortRow = 64;

constexpr std::uint32_t kStep = 8;
constexpr std::uint32_t kBlockSteps = 64;
constexpr std::uint32_t kMaskedValues = kBlockSteps * kStep;

// Of a block of steps, bit i of step i. What bits behind the row's last step are does not matter.
struct StepMasks {
    std::uint64_t paired;     // the four products of a lane may be added in 16 bits
    std::uint64_t single;     // each two of them
    std::uint64_t paired_s7;  // the four, by weights of 7 bits; two always
};

// Where those of a row of n values lie.
ETCH_INLINE std::uint8_t* masks_of(std::uint8_t* row, std::uint32_t n) noexcept {
    return row + round_up(n, kEncodedPadding);
}

// Whether no lane of 16 bits of a step is above the limit: a bit for each of 4 steps.
ETCH_INLINE unsigned steps_within(__m256i words, std::int16_t limit) noexcept {
    const __m256i above = _mm256_cmpgt_epi16(words, _mm256_set1_epi16(limit));
    const __m256i within = _mm256_cmpeq_epi64(above, _mm256_setzero_si256());
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(within)));
}

// Of all int32 lanes.
ETCH_INLINE std::int32_t sum_of_lanes(__m128i x) noexcept {
    const __m128i two = _mm_add_epi32(x, _mm_unpackhi_epi64(x, x));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 1)));
}
ETCH_INLINE std::int32_t sum_of_lanes(__m256i x) noexcept {
    return sum_of_lanes(_mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
}

// Sum of q * factor(q) over the first k values of a row, and the zeros up to a multiple of 16; int16 lanes.
template <class Factor>
ETCH_INLINE std::int32_t weighted_sum(const std::uint8_t* row, std::uint32_t k, const Factor& factor) noexcept {
    __m256i sums = _mm256_setzero_si256();
    for (std::uint32_t i = 0; i < k; i += 16) {
        const __m256i words = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row + i)));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(words, factor(words)));
    }
    return sum_of_lanes(sums);
}

// 32 values of a row, or the 16 that are left and zeros.
ETCH_INLINE __m256i read_values(const std::uint8_t* row, std::uint32_t left) noexcept {
    if (left >= 32) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
    return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
}

// Writes what lies behind the values of a row.
ETCH_INLINE void describe_row(std::uint8_t* row, std::uint32_t n) noexcept {
    if (n <= kShortRow) return;
    std::uint8_t* out = masks_of(row, n);
    const std::uint32_t padded = static_cast<std::uint32_t>(out - row);
    const __m256i zero = _mm256_setzero_si256();
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sums = zero;
    for (std::uint32_t first = 0; first < padded; first += kMaskedValues) {
        const std::uint32_t end = padded - first < kMaskedValues ? padded : first + kMaskedValues;
        StepMasks masks{};
        for (std::uint32_t i = first; i < end; i += 32) {
            const __m256i values = read_values(row + i, end - i);
            const __m256i positive = _mm256_maddubs_epi16(_mm256_max_epi8(values, zero), _mm256_set1_epi8(1));
            const __m256i all = _mm256_maddubs_epi16(_mm256_set1_epi8(1), values);
            const __m256i negative = _mm256_sub_epi16(positive, all);
            // Words 0 and 1 of a step are of its first 4 k, 2 and 3 of its last.
            const __m256i positive_step = _mm256_add_epi16(positive, _mm256_shuffle_epi32(positive, 0xB1));
            const __m256i negative_step = _mm256_add_epi16(negative, _mm256_shuffle_epi32(negative, 0xB1));
            const __m256i of_four = _mm256_max_epi16(positive_step, negative_step);
            const __m256i of_two = _mm256_max_epi16(positive, negative);
            const std::uint32_t at = (i - first) / kStep;
            masks.paired |= std::uint64_t{steps_within(of_four, 128)} << at;
            masks.single |= std::uint64_t{steps_within(of_two, 128)} << at;
            masks.paired_s7 |= std::uint64_t{steps_within(of_four, 258)} << at;
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(all, ones));
        }
        std::memcpy(out, &masks, sizeof masks);
        out += sizeof masks;
    }
    const std::int32_t sum = sum_of_lanes(sums);
    std::memcpy(out, &sum, sizeof sum);
}

// What the last of these are.
ETCH_INLINE std::int32_t sum_of_row(const std::uint8_t* masks, std::uint32_t n) noexcept {
    const std::size_t blocks = (n + kMaskedValues - 1) / kMaskedValues;
    std::int32_t sum;
    std::memcpy(&sum, masks + blocks * sizeof(StepMasks), sizeof sum);
    return sum;
}

float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept {
    const float scale = quantize_row_by(x, n, encoded, EncodePlain{});
    describe_row(encoded, n);
    return scale;
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    const float largest = quantize_probabilities_by(e, value_scales, n, encoded, EncodePlain{});
    describe_row(encoded, n);
    return largest;
}
