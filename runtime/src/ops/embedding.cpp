// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/embedding.hpp"

#include <cstddef>

#include "../kernels/kernel_set.hpp"
#include "entry.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

struct Token {
    const std::int32_t* id;  // those of its text's other rows lie around it
    std::uint8_t segment;
    std::uint32_t position;
    std::uint32_t before;  // rows of its text
    std::uint32_t behind;
    float growth;  // of what is not dropped
};

constexpr std::uint32_t kZeros = 0xFFFFFFFF;  // in the place of an entry's number

// The id of a neighbor, or what stands where there is none.
template <class Embedding>
std::int32_t neighbor_of(const EmbeddingTerm<Embedding>& term, const Token& token) noexcept {
    const std::int64_t row = std::int64_t{token.before} + term.shift;
    const bool there = row >= 0 && row <= std::int64_t{token.before} + token.behind;
    return there ? token.id[term.shift] : term.outside;
}

template <class Embedding>
std::uint32_t entry_of(const EmbeddingTerm<Embedding>& term, const Token& token) noexcept {
    if (term.by == EmbeddedBy::position) return term.first + token.position;
    if (term.by == EmbeddedBy::segment) return term.first + token.segment;
    const std::int32_t id = term.shift == 0 ? *token.id : neighbor_of(term, token);
    return id == kNoEntry || id == term.dropped ? kZeros : term.first + static_cast<std::uint32_t>(id);
}

// The id that a sum drops, kNoEntry where it drops none.
template <class Embedding>
std::int32_t dropped_by(const EmbeddingTerms<Embedding>& terms) noexcept {
    for (std::uint32_t t = 0; t < terms.count(); ++t) {
        if (terms[t].dropped != kNoEntry) return terms[t].dropped;
    }
    return kNoEntry;
}

// All tokens of a text by those that are not dropped; 1 where none is left, for then nothing is multiplied.
float growth_of(const std::int32_t* ids, std::uint32_t count, std::int32_t dropped) noexcept {
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < count; ++i)
        left += ids[i] != dropped;
    return left == 0 ? 1.0f : static_cast<float>(count) / static_cast<float>(left);
}

// Whether the entries of such tables may lie one after the other, as floats or bytes.
template <class Embedding>
constexpr bool kMayBeWhole = false;
template <>
constexpr bool kMayBeWhole<S8Embedding> = true;
template <>
constexpr bool kMayBeWhole<F32Embedding> = true;

// Whether a sum is that of BERT: three tables of whole entries as they are. It has a loop of its own, any other goes
// term by term and value by value: loops for each mixture of kinds would be much code.
template <class Embedding>
bool is_of_three_whole(const EmbeddingTerms<Embedding>& terms) noexcept {
    if (terms.count() != 3) return false;
    for (std::uint32_t i = 0; i < 3; ++i) {
        if (has_4_bits(terms[i].table) || terms[i].factor != 1.0f || terms[i].shift != 0) return false;
        if (terms[i].dropped != kNoEntry || terms[i].by == EmbeddedBy::hashes) return false;
    }
    return true;
}

template <class Embedding>
void add_three(const EmbeddingTerms<Embedding>& terms, const Token& token, const F32Rows& out) noexcept {
    const std::uint32_t width = out.width;
    const auto first = whole_entry(terms[0].table, entry_of(terms[0], token), width);
    const auto second = whole_entry(terms[1].table, entry_of(terms[1], token), width);
    const auto third = whole_entry(terms[2].table, entry_of(terms[2], token), width);
    float* const to = out.data;
    for (std::uint32_t i = 0; i < width; ++i)
        to[i] = (first[i] + second[i]) + third[i];
}

// The first term, or one that is added.
void put(float* to, std::uint32_t i, float value, bool is_first) noexcept {
    to[i] = is_first ? value : to[i] + value;
}

template <class Embedding>
void add_hashed(const EmbeddingTerm<Embedding>& term, std::int32_t id, const F32Rows& out, bool is_first) noexcept {
    const std::uint32_t width = out.width / term.hashes.count;
    for (std::uint32_t h = 0; h < term.hashes.count; ++h) {
        const std::uint32_t hash = (static_cast<std::uint32_t>(id) + 1) * kHashPrimes[h] % term.hashes.buckets;
        for (std::uint32_t i = 0; i < width; ++i)
            put(out.data, h * width + i, value_of(term.table, h * term.hashes.buckets + hash, width, i), is_first);
    }
}

template <class Embedding>
void add_any(const EmbeddingTerms<Embedding>& terms, const Token& token, const F32Rows& out) noexcept {
    float* const to = out.data;
    for (std::uint32_t t = 0; t < terms.count(); ++t) {
        const EmbeddingTerm<Embedding>& term = terms[t];
        if (term.by == EmbeddedBy::hashes) {
            add_hashed(term, *token.id, out, t == 0);
            continue;
        }
        const std::uint32_t entry = entry_of(term, token);
        if (entry == kZeros) {
            for (std::uint32_t i = 0; i < out.width; ++i)
                put(to, i, 0.0f, t == 0);
            continue;
        }
        const float factor = term.dropped == kNoEntry ? term.factor : term.factor * token.growth;
        for (std::uint32_t i = 0; i < out.width; ++i) {
            const float value = value_of(term.table, entry, out.width, i) * factor;  // x * 1.0f is x
            put(to, i, value, t == 0);
        }
    }
}

}  // namespace

template <class Embedding>
void EmbeddingSum<Embedding>::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    bool three_whole = false;
    if constexpr (kMayBeWhole<Embedding>) three_whole = is_of_three_whole(terms);
    const std::int32_t dropped = dropped_by(terms);
    for (const TextPart part : TextParts(texts, {first, last - first})) {
        const std::int32_t* const begin = ids + first + part.row - part.token;
        const float growth = dropped == kNoEntry ? 1.0f : growth_of(begin, part.text.count, dropped);
        for (std::uint32_t n = 0; n < part.count; ++n) {
            const std::uint32_t row = first + part.row + n;
            const std::uint32_t before = part.token + n;
            const Token token{ids + row, segments[row], part.position() + n, before, part.text.count - 1 - before,
                              growth};
            if constexpr (kMayBeWhole<Embedding>) {
                if (three_whole) {
                    add_three(terms, token, out.from(row));
                    continue;
                }
            }
            add_any(terms, token, out.from(row));
        }
    }
}

template struct EmbeddingSum<S8Embedding>;
template struct EmbeddingSum<F32Embedding>;
template struct EmbeddingSum<TiedS8Embedding>;
template struct EmbeddingSum<TiedF32Embedding>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
