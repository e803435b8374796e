// SPDX-License-Identifier: Apache-2.0
// The tokenizer's rules one by one, with a vocabulary in which the words of the cases are pieces.
#include "etch/tokenizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "calls.hpp"

namespace {

using namespace tokenizer_calls;
using namespace std::string_literals;

// A vocabulary without a prefix has none to read.
TEST(TokenizerCases, PiecesWithoutAPrefix) {
    etch::BertTokenizer tokenizer = kUncased;
    tokenizer.model.prefix = nullptr;
    tokenizer.model.prefix_size = 0;
    EXPECT_EQ(run(tokenizer, "hi a").pieces.size(), 2u);
}

// Cases where other implementations went wrong.

TEST(TokenizerCases, LowercaseOfDottedCapitalI) {
    EXPECT_EQ(uncased("İstanbul"), Strings({"istanbul"}));
    EXPECT_EQ(run(kLowercaseOnly, "İ").pieces, Strings({"i\u0307"}));
    EXPECT_EQ(run(kCased, "İstanbul").pieces, Strings({"İstanbul"}));
}

TEST(TokenizerCases, NoFinalSigmaRule) {
    EXPECT_EQ(uncased("ΟΔΟΣ"), Strings({"οδοσ"}));
}

TEST(TokenizerCases, HangulDecomposes) {
    EXPECT_EQ(uncased("한국어"), Strings({"\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"}));
    EXPECT_EQ(run(kCased, "한국어").pieces, Strings({"한국어"}));
}

TEST(TokenizerCases, ControlsVanishAndSeparatorsSeparate) {
    EXPECT_EQ(uncased("x\vy"), Strings({"xy"}));
    EXPECT_EQ(uncased("x\u0085y"), Strings({"xy"}));
    EXPECT_EQ(uncased("x\u2028y"), Strings({"x", "y"}));
    EXPECT_EQ(uncased("x\ty\nx\ry"), Strings({"x", "y", "x", "y"}));
}

TEST(TokenizerCases, FormatCharactersVanish) {
    EXPECT_EQ(uncased("a\u200bb"), Strings({"ab"}));
    EXPECT_EQ(uncased("a\u00adb"), Strings({"ab"}));
    EXPECT_EQ(uncased("\ufeffhi"), Strings({"hi"}));
    EXPECT_EQ(uncased("\U0001f469\u200d\U0001f469\u200d\U0001f467"), Strings({"\U0001f469\U0001f469\U0001f467"}));
}

TEST(TokenizerCases, IdeographRangesOfTheReference) {
    EXPECT_EQ(uncased("\U0002b820x"), Strings({"\U0002b820x"}));  // not surrounded by spaces
    EXPECT_EQ(uncased("a中文a"), Strings({"a", "中", "文", "a"}));
}

TEST(TokenizerCases, OldAndUnassignedCharacters) {
    EXPECT_EQ(uncased("\u1734"), Strings());
    EXPECT_EQ(uncased("\u0378"), Strings({"\u0378"}));
}

TEST(TokenizerCases, LowercaseWithoutCompatibilityForms) {
    EXPECT_EQ(uncased("ẞ"), Strings({"ß"}));
    EXPECT_EQ(uncased("\u13a0"), Strings({"\uab70"}));
    EXPECT_EQ(uncased("ﬁ"), Strings({"ﬁ"}));
    EXPECT_EQ(uncased("ｶﾅ"), Strings({"ｶﾅ"}));
}

TEST(TokenizerCases, OnlyNonspacingMarksVanish) {
    EXPECT_EQ(uncased("हिन्दी"), Strings({"\u0939\u093f\u0928\u0926\u0940"}));
    EXPECT_EQ(uncased("Café cafe\u0301"), Strings({"cafe", "cafe"}));
    EXPECT_EQ(uncased("a\u0902b \u0902"), Strings({"ab"}));     // of combining class 0
    EXPECT_EQ(uncased("\U0001109a"), Strings({"\U00011099"}));  // a base beyond 16 bits
    EXPECT_EQ(run(kCased, "café").pieces, Strings({"café"}));
}

TEST(TokenizerCases, PunctuationOfUnicode8) {
    EXPECT_EQ(uncased("a\u2e43b"), Strings({"a\u2e43b"}));
    EXPECT_EQ(uncased("a\u0c77b"), Strings({"a\u0c77b"}));
    EXPECT_EQ(uncased("$5+3^2~`"), Strings({"$", "5", "+", "3", "^", "2", "~", "`"}));
}

TEST(TokenizerCases, LongestWord) {
    const Output longest = run(kUncased, repeat("a", 100));
    ASSERT_EQ(longest.pieces.size(), 25U);
    EXPECT_EQ(longest.pieces.front(), "aaaa");
    EXPECT_EQ(longest.pieces.back(), "##aaaa");
    const Output too_long = run(kUncased, repeat("a", 101));
    EXPECT_EQ(too_long.pieces, Strings({"[UNK]"}));
    EXPECT_EQ(too_long.offsets[1].end, 101U);
    EXPECT_EQ(run(kCased, repeat("é", 101)).pieces, Strings({"[UNK]"}));
}

TEST(TokenizerCases, ShortLimitsOfWords) {
    etch::BertTokenizer tables = kUncased;
    for (const std::uint32_t limit : {0u, 1u, 2u}) {
        tables.model.max_word_chars = limit;
        const std::string one = limit < 1 ? "[UNK]" : "x";
        const std::string two = limit < 2 ? "[UNK]" : "hi";
        EXPECT_EQ(run(tables, "x hi the " + repeat("e", 250)).pieces, Strings({one, two, "[UNK]", "[UNK]"}));
        EXPECT_EQ(run(tables, "é中" + repeat("a", 250) + "," + repeat("é", 250)).pieces,
                  Strings({limit < 1 ? "[UNK]" : "e", limit < 1 ? "[UNK]" : "中", "[UNK]", limit < 1 ? "[UNK]" : ",",
                           "[UNK]"}));
    }
}

TEST(TokenizerCases, WordBoundarySignIsOrdinary) {
    EXPECT_EQ(uncased("▁"), Strings({"▁"}));
    EXPECT_EQ(uncased("a▁b"), Strings({"a▁b"}));
}

TEST(TokenizerCases, ContinuingPieceDoesNotStartAWord) {
    EXPECT_EQ(uncased("아 \u314b"), Strings({"\u110b\u1161", "[UNK]"}));
}

// Rules.

TEST(Tokenizer, GreedyLongestMatch) {
    const Output out = run(kUncased, "Unaffable!");
    EXPECT_EQ(out.pieces, Strings({"un", "##aff", "##able", "!"}));
    const unsigned expected[][2] = {{0, 0}, {0, 2}, {2, 5}, {5, 9}, {9, 10}, {0, 0}};
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(out.offsets[i].begin, expected[i][0]);
        EXPECT_EQ(out.offsets[i].end, expected[i][1]);
    }
    EXPECT_EQ(out.ids.front(), 2);
    EXPECT_EQ(out.ids.back(), 3);
}

TEST(Tokenizer, EveryChildOfAListThatIsContinued) {
    for (char last = 'a'; last <= 'y'; ++last) {
        const std::string word = std::string("z") + last;
        EXPECT_EQ(uncased(word), Strings({word}));
        EXPECT_EQ(uncased(word + "a"), Strings({word, "##a"}));
    }
    EXPECT_EQ(uncased("zz"), Strings({"[UNK]"}));
}

TEST(Tokenizer, OneFailureMakesTheWholeWordUnknown) {
    const Output out = run(kUncased, "unaffz the");
    EXPECT_EQ(out.pieces, Strings({"[UNK]", "the"}));
    EXPECT_EQ(out.offsets[1].end, 6U);
}

// Punctuation is a word of one character, also where only longer pieces begin with it, or none.
TEST(Tokenizer, PunctuationThatIsNoPiece) {
    EXPECT_EQ(uncased("the { a"), Strings({"the", "[UNK]", "a"}));
    EXPECT_EQ(uncased("{a"), Strings({"[UNK]", "a"}));
    EXPECT_EQ(uncased("the % a"), Strings({"the", "[UNK]", "a"}));  // no piece begins with it
}

TEST(Tokenizer, OffsetsCountBytesOfTheOriginal) {
    const Output out = run(kUncased, "\u200bCafe\u0301 中x");
    EXPECT_EQ(out.pieces, Strings({"cafe", "中", "x"}));
    EXPECT_EQ(out.offsets[1].begin, 3U);
    EXPECT_EQ(out.offsets[1].end, 7U);  // the mark is gone
    EXPECT_EQ(out.offsets[2].begin, 10U);
    EXPECT_EQ(out.offsets[2].end, 13U);
}

TEST(Tokenizer, NullBytesAreText) {
    EXPECT_EQ(uncased("a\0b the"s), Strings({"ab", "the"}));
    EXPECT_EQ(uncased("\0"s), Strings());
}

TEST(Tokenizer, EmptyText) {
    const Output out = run(kUncased, std::string_view());
    EXPECT_EQ(out.ids, (std::vector<std::int32_t>{2, 3}));
    EXPECT_FALSE(out.truncated);
}

TEST(Tokenizer, InvalidUtf8Vanishes) {
    EXPECT_EQ(uncased("a\xff"
                      "b"),
              Strings({"ab"}));
    EXPECT_EQ(uncased("a\xe2\x82 b"), Strings({"a", "b"}));
    EXPECT_EQ(uncased("a\xed\xa0\x80"
                      "b"),
              Strings({"ab"}));
    EXPECT_EQ(uncased("the\xf0\x9f\x98"), Strings({"the"}));
    EXPECT_EQ(uncased("\xf0\x9f\x98é"), Strings({"e"}));
}

TEST(Tokenizer, SpecialTokensInText) {
    EXPECT_EQ(uncased("foo[SEP]bar"), Strings({"foo", "[SEP]", "bar"}));
    EXPECT_EQ(run(kUncased, "foo[SEP]bar", 300, SpecialTokens::plain_text).pieces,
              Strings({"foo", "[", "sep", "]", "bar"}));
    EXPECT_EQ(uncased("[sep]"), Strings({"[", "sep", "]"}));
}

TEST(Tokenizer, ATextHasTheSpecialTokensThatItNeeds) {
    const auto read = [](std::string_view text, std::uint32_t capacity) {
        std::int32_t ids[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
        std::uint8_t segments[8];
        TokenOffset offsets[8];
        alignas(8) std::uint8_t scratch[tokenizer_scratch_bytes(kUncased)];
        Tokenized result;
        EXPECT_EQ(tokenize(kUncased, text, SpecialTokens::in_text, scratch, {ids, segments, offsets, capacity}, result),
                  Status::ok);
        std::vector<std::int32_t> found(ids, ids + result.count);
        found.push_back(result.truncated ? -2 : -1);
        return found;
    };
    const auto id = [&](std::string_view text) { return read(text, 8)[0]; };
    EXPECT_EQ(read("[CLS]foo[SEP]", 8), (std::vector{id("[CLS]"), id("foo"), id("[SEP]"), -1}));
    EXPECT_EQ(read("foo bar", 8), (std::vector{id("foo"), id("bar"), -1}));
    EXPECT_EQ(read("foo bar", 1), (std::vector{id("foo"), -2}));
    EXPECT_EQ(read("", 8), (std::vector{-1}));
    EXPECT_EQ(read("foo", 0), (std::vector{-2}));
}

TEST(Tokenizer, MarksAreOrdered) {
    // U+1B44 (class 9) and U+1E000 (class 230) survive strip_accents; the wheel's places follow the count, not the
    // mark.
    const Output out = run(kUncased, "q\U0001e000\u0301\u1b44");
    EXPECT_EQ(out.pieces, Strings({"q\u1b44\U0001e000"}));
    EXPECT_EQ(out.offsets[1].begin, 0U);
    EXPECT_EQ(out.offsets[1].end, 7U);
}

TEST(Tokenizer, TextsOfPieces) {
    EXPECT_EQ(text_of_piece(kUncased, 0), "[PAD]");
    EXPECT_EQ(text_of_piece(kUncased, -1), "");
    EXPECT_EQ(text_of_piece(kUncased, static_cast<std::int32_t>(kUncased.model.piece_count)), "");
    EXPECT_EQ(text_of_piece(kWithTokens, static_cast<std::int32_t>(kUncased.model.piece_count)), "<l>");
    EXPECT_EQ(run(kUncased, "unaffable").pieces, Strings({"un", "##aff", "##able"}));
}

TEST(Tokenizer, TextsThatDoNotFitAreCut) {
    const std::int32_t able = run(kUncased, "unaffable").ids[3];
    for (std::size_t capacity = 0; capacity <= 8; ++capacity) {
        std::string text(9, '.');
        EXPECT_EQ(etch::piece(kUncased, able, text.data(), capacity), 6U);
        const std::size_t kept = std::min<std::size_t>(capacity, 6);
        EXPECT_EQ(text, std::string("##able").substr(0, kept) + std::string(9 - kept, '.'));
    }
}

// Truncation.

TEST(TokenizerTruncation, SingleText) {
    const Output fits = run(kUncased, "the hello world", 5);
    EXPECT_EQ(fits.pieces.size(), 3U);
    EXPECT_FALSE(fits.truncated);
    const Output cut = run(kUncased, "the hello world", 4);
    EXPECT_EQ(cut.pieces, Strings({"the", "hello"}));
    EXPECT_TRUE(cut.truncated);
    EXPECT_EQ(cut.ids.back(), 3);
    EXPECT_EQ(run(kUncased, "unaffable", 4).pieces, Strings({"un", "##aff"}));
    EXPECT_FALSE(run(kUncased, " \n ", 2).truncated);
    EXPECT_TRUE(run(kUncased, "a", 2).truncated);
}

TEST(TokenizerTruncation, NoRoomForTheTemplate) {
    EXPECT_TRUE(run(kUncased, "a", 1).truncated);
    EXPECT_TRUE(run(kUncased, "a", 1).ids.empty());
    EXPECT_TRUE(Call(kUncased, 2).pair("a", "b").ids.empty());
}

TEST(TokenizerTruncation, PairsLongestFirst) {
    struct Case {
        int first, second, room, kept_first, kept_second;
    };
    const Case cases[] = {
        {3, 4, 7, 3, 4}, {3, 9, 8, 3, 5}, {9, 3, 8, 5, 3}, {9, 9, 8, 4, 4}, {9, 9, 7, 3, 4},
        {5, 9, 7, 3, 4}, {9, 5, 7, 4, 3}, {0, 9, 4, 0, 4}, {9, 0, 4, 4, 0}, {4, 9, 8, 4, 4},
        {1, 1, 1, 0, 1}, {2, 1, 1, 1, 0}, {9, 9, 0, 0, 0}, {5, 6, 5, 2, 3}, {6, 5, 5, 3, 2},
    };
    for (const Case& c : cases) {
        const Output out = Call(kUncased, static_cast<std::uint32_t>(c.room + 3))
                               .pair(repeat("the ", c.first), repeat("hello ", c.second));
        const std::string name =
            std::to_string(c.first) + " + " + std::to_string(c.second) + " in " + std::to_string(c.room);
        Strings expected;
        for (int i = 0; i < c.kept_first; ++i)
            expected.emplace_back("the");
        for (int i = 0; i < c.kept_second; ++i)
            expected.emplace_back("hello");
        EXPECT_EQ(out.pieces, expected) << name;
        EXPECT_EQ(out.truncated, c.first + c.second > c.room) << name;
        ASSERT_EQ(out.ids.size(), expected.size() + 3) << name;
        EXPECT_EQ(out.ids[static_cast<std::size_t>(c.kept_first) + 1], 3) << name;
        EXPECT_EQ(out.ids.back(), 3) << name;
        for (std::size_t i = 0; i < out.segments.size(); ++i) {
            EXPECT_EQ(out.segments[i], i > static_cast<std::size_t>(c.kept_first) + 1 ? 1 : 0) << name;
        }
    }
}

TEST(TokenizerTruncation, OffsetsOfTheSecondTextAreItsOwn) {
    const Output out = Call(kUncased, 9).pair("the", "hello");
    EXPECT_EQ(out.offsets[3].begin, 0U);
    EXPECT_EQ(out.offsets[3].end, 5U);
}

}  // namespace
