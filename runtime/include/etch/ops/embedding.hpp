// SPDX-License-Identifier: Apache-2.0
// The sum of one entry of each of several tables, per token. Units: rows. Token ids and segments were checked when the
// call began.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Rows of s8 [entries][width] with one scale each: entry = float(q) * scale. With factors the rows are of 4 bits, as
// Packing::rows has them (packing.hpp): entry = float(q * factor) * scale.
struct S8Embedding {
    const std::int8_t* table;
    const float* scales;  // [entries]
    const std::uint8_t* factors = nullptr;
};

// f32 [entries][width].
struct F32Embedding {
    const float* table;
};

// How the table of a tied embedding lies: its entries one after the other, or as the weights of a linear in a packing,
// whose outputs are the entries.
enum class TableLayout : std::uint8_t { entries, panel, rows };

constexpr TableLayout layout_of(Packing packing) noexcept {
    return packing == Packing::panel ? TableLayout::panel : TableLayout::rows;
}

// A table that may also be the weights of a linear. Scales are by output, factors those of the packing.
struct TiedS8Embedding {
    S8Embedding table;
    TableLayout layout = TableLayout::entries;
};
struct TiedF32Embedding {
    F32Embedding table;
    TableLayout layout = TableLayout::entries;
};

// What a token looks an entry up by; its position is that in its text.
enum class EmbeddedBy : std::uint8_t { id, segment, position, hashes };

constexpr std::int32_t kNoEntry = -1;  // instead of an id: zeros

// Hash functions of a token's id, as CANINE has them (Clark et al. 2021, arXiv:2103.06874, section 3.1): the h-th one
// is (id + 1) * kHashPrimes[h] % buckets.
inline constexpr std::uint32_t kHashPrimes[] = {31,  43,  59,  61,  73,  97,  103, 113,
                                                137, 149, 157, 173, 181, 193, 211, 223};
struct Hashes {
    std::uint32_t count = 0;  // at most as many as there are primes
    std::uint32_t buckets = 0;
};

// entry number `first` + the token's id, segment or position; times `factor`, a second multiplication. Of a neighbor
// the id is that of the token `shift` rows later in the same text (below 0: earlier), where there is none it is
// `outside`. Tokens of the id `dropped` have zeros, and the text's other tokens a larger factor: times all its tokens,
// divided by those that are kept; one term of a sum may say so. Texts have all their rows in both cases.
//
// By hashes the table is [hashes.count * hashes.buckets][width / hashes.count], and the entry that of each function
// side by side, those of function h from number h * buckets on; an id times a prime fits 32 bits.
template <class Embedding>
struct EmbeddingTerm {
    Embedding table;
    EmbeddedBy by;
    std::uint32_t first = 0;
    float factor = 1.0f;
    std::int32_t shift = 0;
    std::int32_t outside = kNoEntry;
    std::int32_t dropped = kNoEntry;
    Hashes hashes = {};
};

// At least one term. A view.
template <class Embedding>
class EmbeddingTerms {
  public:
    template <std::size_t kCount>
    constexpr EmbeddingTerms(const EmbeddingTerm<Embedding> (&terms)[kCount]) noexcept
        : terms_(terms), count_(kCount) {}

    constexpr std::uint32_t count() const noexcept { return count_; }
    constexpr const EmbeddingTerm<Embedding>& operator[](std::uint32_t i) const noexcept { return terms_[i]; }

  private:
    const EmbeddingTerm<Embedding>* terms_;
    std::uint32_t count_;
};

// The terms are added from left to right. `Embedding` is one of the four above.
template <class Embedding>
struct EmbeddingSum {
    EmbeddingTerms<Embedding> terms;
    const Texts& texts;
    const std::int32_t* ids;       // [rows]
    const std::uint8_t* segments;  // [rows]
    F32Rows out;                   // [rows][width]

    std::uint32_t units() const noexcept { return texts.rows(); }
    std::uint64_t cost() const noexcept { return kCostOfEmbeddedValue * terms.count() * texts.rows() * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

extern template struct EmbeddingSum<S8Embedding>;
extern template struct EmbeddingSum<F32Embedding>;
extern template struct EmbeddingSum<TiedS8Embedding>;
extern template struct EmbeddingSum<TiedF32Embedding>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
