// SPDX-License-Identifier: Apache-2.0
// Sums of embeddings against the contract, entry by entry: every number and kind of terms, tables that are weights of a
// linear, positions within texts.
#include "etch/ops/embedding.hpp"

#include "support.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kCount = 7;
constexpr std::uint32_t kEntries = 20;
// One text that begins, one of three rows, one that goes on at position 5.
constexpr TextRows kRows[] = {{0, 1, 0, 1, 0}, {1, 3, 0, 3, 16}, {4, 3, 5, 8, 32}};
constexpr std::uint32_t kPositions[kCount] = {0, 0, 1, 2, 5, 6, 7};
constexpr std::int32_t kIds[kCount] = {3, 0, 17, 3, 7, 1, 16};
constexpr std::uint8_t kSegments[kCount] = {0, 0, 0, 1, 1, 1, 0};
const std::uint32_t kWidths[] = {1, 4, 10, 32, 37, 64};

std::uint32_t index_of(EmbeddedBy by, std::uint32_t row) {
    return by == EmbeddedBy::id        ? static_cast<std::uint32_t>(kIds[row])
           : by == EmbeddedBy::segment ? kSegments[row]
                                       : kPositions[row];
}

// A table in every form, with the entries that it stands for.
struct Table {
    std::uint32_t width;
    std::vector<std::int8_t> q;
    std::vector<float> scales;
    std::vector<float> entries;     // f32 [kEntries][width], of q
    std::vector<float> s4_entries;  // of s4
    EdgeArray<std::int8_t> panel;
    EdgeArray<std::int8_t> rows;
    EdgeArray<float> f32_panel;
    EdgeArray<float> f32_rows;
    S4Table s4_panel;
    S4Table s4_rows;

    Table(std::uint32_t columns, std::uint32_t seed)
        : width(columns),
          q(Random(seed).s8s(kEntries * columns)),
          scales(Random(seed + 1).floats(kEntries, 0.01f, 0.02f)),
          entries(expanded(q)),
          panel(pack(Packing::panel, q, kEntries, columns)),
          rows(pack(Packing::rows, q, kEntries, columns)),
          f32_panel(pack(Packing::panel, entries, kEntries, columns)),
          f32_rows(pack(Packing::rows, entries, kEntries, columns)),
          s4_panel(Packing::panel, kEntries, columns, seed),
          s4_rows(Packing::rows, kEntries, columns, seed) {
        s4_entries = expanded(s4_rows.expanded);
    }
    S8Embedding s8() const { return {q.data(), scales.data()}; }
    S8Embedding s4() const { return {s4_rows.q.data(), scales.data(), s4_rows.factors.data()}; }

  private:
    std::vector<float> expanded(const std::vector<std::int8_t>& of) const {
        std::vector<float> values(of.size());
        for (std::size_t i = 0; i < of.size(); ++i)
            values[i] = static_cast<float>(of[i]) * scales[i / width];
        return values;
    }
};

template <class Embedding, std::size_t kTerms>
std::vector<float> sum(const EmbeddingTerm<Embedding> (&terms)[kTerms], std::uint32_t width) {
    std::vector<float> out(kCount * width);
    const Texts texts{kRows, 3};
    const EmbeddingSum<Embedding> op{terms, texts, kIds, kSegments, {out.data(), width}};
    run_backwards(op, {scalar(Packing::panel), nullptr});
    return out;
}

struct Term {
    const std::vector<float>& entries;
    EmbeddedBy by;
    std::uint32_t first = 0;
    float factor = 1.0f;
    std::int32_t shift = 0;
    std::int32_t outside = kNoEntry;
    std::int32_t dropped = kNoEntry;
};

// Tokens of a row's text, all of them or those that are not of this id; of kRows' last text the first five are no rows.
std::uint32_t count_of(std::uint32_t row, std::int32_t without) {
    std::uint32_t count = 0;
    for (const TextRows& text : kRows) {
        if (row < text.first || row >= text.first + text.count) continue;
        for (std::uint32_t i = 0; i < text.count; ++i)
            count += kIds[text.first + i] != without;
    }
    return count;
}

// The id that a term looks up for a row of the batch, whichever of kRows' texts has it.
std::int32_t id_at(const Term& term, std::uint32_t row) {
    for (const TextRows& text : kRows) {
        if (row < text.first || row >= text.first + text.count) continue;
        const std::int64_t at = std::int64_t{row} + term.shift;
        return at < text.first || at >= text.first + text.count ? term.outside : kIds[at];
    }
    return kNoEntry;
}

std::vector<float> wanted(const std::vector<Term>& terms, std::uint32_t width) {
    std::vector<float> out(kCount * width);
    for (std::uint32_t row = 0; row < kCount; ++row) {
        for (std::uint32_t i = 0; i < width; ++i) {
            volatile float total = 0.0f;
            for (const Term& term : terms) {
                const std::int32_t id = term.shift == 0 ? 0 : id_at(term, row);
                const std::uint32_t index = term.shift == 0 ? index_of(term.by, row) : static_cast<std::uint32_t>(id);
                volatile float value = id == kNoEntry ? 0.0f : term.entries[(term.first + index) * width + i];
                if (term.factor != 1.0f && id != kNoEntry) value = value * term.factor;
                if (term.dropped == kIds[row]) value = 0.0f;
                if (term.dropped != kNoEntry && term.dropped != kIds[row]) {
                    const auto all = static_cast<float>(count_of(row, kNoEntry));
                    const auto left = static_cast<float>(count_of(row, term.dropped));
                    value = term.entries[(term.first + index) * width + i] * (term.factor * (all / left));
                }
                total = &term == terms.data() ? value : total + value;
            }
            out[row * width + i] = total;
        }
    }
    return out;
}

TEST(EmbeddingSum, AddsWordSegmentPositionInThatOrder) {
    for (const std::uint32_t width : kWidths) {
        const Table word(width, 1);
        const Table segment(width, 3);
        const Table position(width, 5);
        const std::vector<float> want = wanted({{word.entries, EmbeddedBy::id},
                                                {segment.entries, EmbeddedBy::segment},
                                                {position.entries, EmbeddedBy::position}},
                                               width);
        EXPECT_TRUE(same_bits(sum<S8Embedding>({{word.s8(), EmbeddedBy::id},
                                                {segment.s8(), EmbeddedBy::segment},
                                                {position.s8(), EmbeddedBy::position}},
                                               width),
                              want));
        EXPECT_TRUE(same_bits(sum<F32Embedding>({{{word.entries.data()}, EmbeddedBy::id},
                                                 {{segment.entries.data()}, EmbeddedBy::segment},
                                                 {{position.entries.data()}, EmbeddedBy::position}},
                                                width),
                              want));
    }
}

TEST(EmbeddingSum, AnyTermsInTheOrderGiven) {
    for (const std::uint32_t width : kWidths) {
        const Table a(width, 1);
        const Table b(width, 3);
        EXPECT_TRUE(same_bits(sum<S8Embedding>({{a.s8(), EmbeddedBy::id}}, width),
                              wanted({{a.entries, EmbeddedBy::id}}, width)));
        EXPECT_TRUE(same_bits(sum<S8Embedding>({{a.s8(), EmbeddedBy::position, 2}, {b.s8(), EmbeddedBy::id}}, width),
                              wanted({{a.entries, EmbeddedBy::position, 2}, {b.entries, EmbeddedBy::id}}, width)));
        EXPECT_TRUE(same_bits(sum<F32Embedding>({{{a.entries.data()}, EmbeddedBy::id, 0, 13.856406f},
                                                 {{b.entries.data()}, EmbeddedBy::position, 2},
                                                 {{a.entries.data()}, EmbeddedBy::segment, 4}},
                                                width),
                              wanted({{a.entries, EmbeddedBy::id, 0, 13.856406f},
                                      {b.entries, EmbeddedBy::position, 2},
                                      {a.entries, EmbeddedBy::segment, 4}},
                                     width)));
        EXPECT_TRUE(same_bits(sum<S8Embedding>({{a.s8(), EmbeddedBy::id},
                                                {b.s8(), EmbeddedBy::segment},
                                                {a.s8(), EmbeddedBy::position},
                                                {b.s8(), EmbeddedBy::id, 1}},
                                               width),
                              wanted({{a.entries, EmbeddedBy::id},
                                      {b.entries, EmbeddedBy::segment},
                                      {a.entries, EmbeddedBy::position},
                                      {b.entries, EmbeddedBy::id, 1}},
                                     width)));
    }
}

// Of the tokens around a token, never those of another text; three whole tables, too, are added term by term then.
TEST(EmbeddingSum, NeighborsOfATextsTokens) {
    for (const std::uint32_t width : kWidths) {
        const Table a(width, 1);
        const Table b(width, 3);
        for (const std::int32_t shift : {-7, -2, -1, 1, 2, 7}) {
            EXPECT_TRUE(same_bits(sum<S8Embedding>({{a.s4(), EmbeddedBy::id, 0, -2.5f, shift}}, width),
                                  wanted({{a.s4_entries, EmbeddedBy::id, 0, -2.5f, shift}}, width)))
                << shift;
            EXPECT_TRUE(same_bits(sum<S8Embedding>({{b.s8(), EmbeddedBy::position},
                                                    {a.s8(), EmbeddedBy::id, 0, 1.0f, shift, 19},
                                                    {a.s8(), EmbeddedBy::id, 0, 1.0f, -shift}},
                                                   width),
                                  wanted({{b.entries, EmbeddedBy::position},
                                          {a.entries, EmbeddedBy::id, 0, 1.0f, shift, 19},
                                          {a.entries, EmbeddedBy::id, 0, 1.0f, -shift}},
                                         width)))
                << shift;
            EXPECT_TRUE(same_bits(
                sum<TiedF32Embedding>({{{{a.f32_rows.data()}, TableLayout::rows}, EmbeddedBy::segment},
                                       {{{b.entries.data()}}, EmbeddedBy::id, 0, 3.0f, shift, 0}},
                                      width),
                wanted({{a.entries, EmbeddedBy::segment}, {b.entries, EmbeddedBy::id, 0, 3.0f, shift, 0}}, width)))
                << shift;
        }
    }
}

// Of each text by itself: the first has no such token, of the second one in three is, of the last one in three, of 3
// the only one of the first.
TEST(EmbeddingSum, TokensThatAreDropped) {
    for (const std::uint32_t width : kWidths) {
        const Table a(width, 1);
        const Table b(width, 3);
        for (const std::int32_t dropped : {17, 7, 3, 12}) {
            const Term words{a.entries, EmbeddedBy::id, 0, 0.88f, 0, kNoEntry, dropped};
            EXPECT_TRUE(same_bits(sum<S8Embedding>({{a.s8(), EmbeddedBy::id, 0, 0.88f, 0, kNoEntry, dropped}}, width),
                                  wanted({words}, width)))
                << dropped;
            EXPECT_TRUE(
                same_bits(sum<F32Embedding>({{{b.entries.data()}, EmbeddedBy::position},
                                             {{a.entries.data()}, EmbeddedBy::id, 0, 1.0f, 0, kNoEntry, dropped},
                                             {{b.entries.data()}, EmbeddedBy::segment}},
                                            width),
                          wanted({{b.entries, EmbeddedBy::position},
                                  {a.entries, EmbeddedBy::id, 0, 1.0f, 0, kNoEntry, dropped},
                                  {b.entries, EmbeddedBy::segment}},
                                 width)))
                << dropped;
        }
    }
}

// 4 bits in any mixture with 8.
// Of each function a part of the row, the first one's first; ids may be as large as code points.
TEST(EmbeddingSum, HashFunctionsOfIds) {
    constexpr std::uint32_t kFunctions = 3;
    constexpr std::uint32_t kPart = 5;
    constexpr std::uint32_t kBuckets = kEntries / kFunctions;
    constexpr std::int32_t kCodePoints[] = {0, 1, 97, 0xE000, 0xFFFD, 0x1F389, 0x10FFFF};
    constexpr std::uint8_t kNoSegments[std::size(kCodePoints)] = {};
    const Table hashed(kPart, 1);
    const Table position(kFunctions * kPart, 3);
    const TextRows text = whole_text(std::size(kCodePoints));
    std::vector<float> want;
    for (std::uint32_t row = 0; row < std::size(kCodePoints); ++row) {
        for (std::uint32_t i = 0; i < kFunctions * kPart; ++i) {
            const std::uint64_t prime = std::vector<std::uint64_t>{31, 43, 59}[i / kPart];
            const std::uint64_t bucket = (static_cast<std::uint64_t>(kCodePoints[row]) + 1) * prime % kBuckets;
            const std::size_t entry = i / kPart * kBuckets + bucket;
            want.push_back(hashed.entries[entry * kPart + i % kPart] + position.entries[row * kFunctions * kPart + i]);
        }
    }
    const auto check = [&](const auto& terms) {
        using Embedding = std::decay_t<decltype(terms[0].table)>;
        std::vector<float> out(want.size());
        const EmbeddingSum<Embedding> op{terms, {&text, 1}, kCodePoints, kNoSegments, {out.data(), kFunctions * kPart}};
        for (std::uint32_t unit = op.units(); unit-- > 0;)
            op.run({scalar(Packing::panel), nullptr}, unit, unit + 1);
        EXPECT_TRUE(same_bits(out, want));
    };
    constexpr Hashes kHashes{kFunctions, kBuckets};
    const EmbeddingTerm<S8Embedding> s8[] = {{hashed.s8(), EmbeddedBy::hashes, 0, 1.0f, 0, kNoEntry, kNoEntry, kHashes},
                                             {position.s8(), EmbeddedBy::position}};
    check(s8);
    const EmbeddingTerm<F32Embedding> f32[] = {
        {{hashed.entries.data()}, EmbeddedBy::hashes, 0, 1.0f, 0, kNoEntry, kNoEntry, kHashes},
        {{position.entries.data()}, EmbeddedBy::position}};
    check(f32);
}

TEST(EmbeddingSum, TablesOfFourBits) {
    for (const std::uint32_t width : kWidths) {
        const Table a(width, 1);
        const Table b(width, 3);
        for (int mixture = 0; mixture < 8; ++mixture) {
            const auto table = [mixture](const Table& of, int bit) { return mixture >> bit & 1 ? of.s4() : of.s8(); };
            const auto entries = [mixture](const Table& of, int bit) -> const std::vector<float>& {
                return mixture >> bit & 1 ? of.s4_entries : of.entries;
            };
            EXPECT_TRUE(same_bits(sum<S8Embedding>({{table(a, 0), EmbeddedBy::id},
                                                    {table(b, 1), EmbeddedBy::segment},
                                                    {table(a, 2), EmbeddedBy::position}},
                                                   width),
                                  wanted({{entries(a, 0), EmbeddedBy::id},
                                          {entries(b, 1), EmbeddedBy::segment},
                                          {entries(a, 2), EmbeddedBy::position}},
                                         width)))
                << mixture;
        }
    }
}

// Entries of a table that a linear multiplies by, beside tables of their own.
TEST(EmbeddingSum, TablesThatAreWeights) {
    for (const std::uint32_t width : kWidths) {
        const Table a(width, 1);
        const Table b(width, 3);
        const std::vector<float> want =
            wanted({{a.entries, EmbeddedBy::id, 0, 8.0f}, {b.entries, EmbeddedBy::position}}, width);
        const std::vector<float> want_s4 =
            wanted({{a.s4_entries, EmbeddedBy::id, 0, 8.0f}, {b.s4_entries, EmbeddedBy::position}}, width);
        struct Form {
            TableLayout layout;
            const std::int8_t* q;
            const float* f32;
            const S4Table& s4;
        };
        for (const Form& form : {Form{TableLayout::panel, a.panel.data(), a.f32_panel.data(), a.s4_panel},
                                 Form{TableLayout::rows, a.rows.data(), a.f32_rows.data(), a.s4_rows},
                                 Form{TableLayout::entries, a.q.data(), a.entries.data(), a.s4_rows}}) {
            EXPECT_TRUE(
                same_bits(sum<TiedS8Embedding>({{{{form.q, a.scales.data()}, form.layout}, EmbeddedBy::id, 0, 8.0f},
                                                {{b.s8()}, EmbeddedBy::position}},
                                               width),
                          want));
            EXPECT_TRUE(same_bits(
                sum<TiedS8Embedding>({{{{form.s4.q.data(), a.scales.data(), form.s4.factors.data()}, form.layout},
                                       EmbeddedBy::id,
                                       0,
                                       8.0f},
                                      {{b.s4()}, EmbeddedBy::position}},
                                     width),
                want_s4));
            EXPECT_TRUE(same_bits(sum<TiedF32Embedding>({{{{form.f32}, form.layout}, EmbeddedBy::id, 0, 8.0f},
                                                         {{{b.entries.data()}}, EmbeddedBy::position}},
                                                        width),
                                  want));
        }
    }
}

TEST(EmbeddingSum, CostsByEntry) {
    const Table a(4, 1);
    const EmbeddingTerm<S8Embedding> one[] = {{a.s8(), EmbeddedBy::id}};
    const EmbeddingTerm<S8Embedding> two[] = {{a.s8(), EmbeddedBy::id}, {a.s8(), EmbeddedBy::position}};
    const Texts texts{kRows, 3};
    const EmbeddingSum<S8Embedding> of_one{one, texts, kIds, kSegments, {nullptr, 4}};
    const EmbeddingSum<S8Embedding> of_two{two, texts, kIds, kSegments, {nullptr, 4}};
    EXPECT_EQ(of_one.units(), kCount);
    EXPECT_EQ(of_two.cost(), 2 * of_one.cost());
}

}  // namespace
}  // namespace etch::testing
