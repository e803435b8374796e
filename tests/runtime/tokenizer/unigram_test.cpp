// SPDX-License-Identifier: Apache-2.0
// Words that are longer than what a lattice holds: written in parts, as if they were held as a whole.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calls.hpp"

namespace {

using namespace tokenizer_calls;
using test_vocabulary::kPieces;

struct Tokens {
    std::vector<std::int32_t> ids;
    std::vector<TokenOffset> offsets;
    bool cut_word = false;
};

Tokens tokens_of(const std::string& text) {
    const auto capacity = static_cast<std::uint32_t>(text.size() + 8);
    std::vector<std::uint64_t> scratch(etch::tokenizer_scratch_bytes(kPieces) / 8 + 1);
    Tokens tokens{std::vector<std::int32_t>(capacity), std::vector<TokenOffset>(capacity)};
    Tokenized result{};
    std::vector<std::uint8_t> segments(capacity);
    const TokenSink sink{tokens.ids.data(), segments.data(), tokens.offsets.data(), capacity};
    EXPECT_EQ(etch::tokenize(kPieces, text, SpecialTokens::recognized, scratch.data(), sink, result), Status::ok);
    tokens.ids.resize(result.count);
    tokens.offsets.resize(result.count);
    tokens.cut_word = result.cut_word;
    return tokens;
}

// Of words that repeat a part what a short one has in each part, but for the last one.
void expect_repeats(const std::string& begin, const std::string& part) {
    const std::size_t times = 3 * etch::Unigram::kMostBytes / part.size();
    const Tokens one = tokens_of(begin + part);
    const Tokens two = tokens_of(begin + part + part);
    const std::size_t each = two.ids.size() - one.ids.size();
    const Tokens all = tokens_of(begin + repeat(part, static_cast<int>(times)));
    ASSERT_EQ(all.ids.size(), one.ids.size() + (times - 1) * each) << begin << part;
    EXPECT_FALSE(all.cut_word);
    for (std::size_t i = one.ids.size(); i + 2 * each < all.ids.size(); ++i) {
        ASSERT_EQ(all.ids[i - 1 + each], all.ids[i - 1]) << begin << part << i;
        ASSERT_EQ(all.offsets[i - 1 + each].begin, all.offsets[i - 1].begin + part.size()) << begin << part << i;
        ASSERT_EQ(all.offsets[i - 1 + each].end, all.offsets[i - 1].end + part.size()) << begin << part << i;
    }
}

// A word that is a piece, but whose parts are better.
TEST(Unigram, APieceThatIsNotTheBestOfItsText) {
    const Tokens tokens = tokens_of("b");
    ASSERT_EQ(tokens.ids.size(), 4U);  // the template's, U+2581, b
    char text[8];
    EXPECT_EQ(etch::piece(kPieces, tokens.ids[1], text, sizeof text), 3U);
    EXPECT_EQ(etch::piece(kPieces, tokens.ids[2], text, sizeof text), 1U);
}

TEST(Unigram, LongWordsOfUnknownCharacters) {
    for (int before = 0; before < 12; ++before) {
        expect_repeats(repeat("b", before), "a?");
        expect_repeats(repeat("b", before), "a???b");
        expect_repeats(repeat("b", before), "?b\u00e9");
    }
}

// Two paths that part behind the last place all agree on: `the` and `thea` begin there.
TEST(Unigram, LongWordsWherePiecesOverlap) {
    for (int before = 0; before < 12; ++before) {
        expect_repeats(repeat("b", before), "thea");
        expect_repeats(repeat("b", before), "theab");
        expect_repeats(repeat("b", before), "abcthe");
    }
}

}  // namespace
