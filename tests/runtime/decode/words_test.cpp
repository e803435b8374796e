// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/words.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace etch {
namespace {

// Pieces: 0 [UNK], 1 [CLS], 2 "ab", 3 "##ab", 4 one of 200 characters.
constexpr std::uint8_t kCharacters[] = {5, 5, 2, kContinuingPiece | 4, kMostCharacters};

WordPiece model() {
    WordPiece found{};
    found.unknown_id = 0;
    return found;
}

Template parts() {
    Template found{};
    found.single_count = 2;
    found.single[0] = {1, 0};
    found.single[1] = {TemplatePart::kFirst, 0};
    return found;
}

std::vector<TokenMark> marked(std::string_view text, std::vector<std::int32_t> ids, std::vector<TokenOffset> offsets) {
    std::vector<TokenMark> marks(ids.size());
    mark_words(model(), parts(), kCharacters, text,
               {ids.data(), offsets.data(), marks.data(), static_cast<std::uint32_t>(ids.size())});
    return marks;
}

TEST(Words, ByTheLengthOfThePiece) {
    const auto marks = marked("abab", {1, 2, 3, 1}, {{0, 0}, {0, 2}, {2, 4}, {0, 0}});
    const std::vector<TokenMark> expected = {TokenMark::special, TokenMark::begins_word, TokenMark::goes_on,
                                             TokenMark::special};
    EXPECT_EQ(marks, expected);
}

TEST(Words, CharactersAreCountedNotBytes) {
    EXPECT_EQ(marked("\u00e4\U0001f389", {2}, {{0, 6}})[0], TokenMark::begins_word);
    EXPECT_EQ(marked("a\u0301b", {2}, {{0, 4}})[0], TokenMark::goes_on);  // three of them
    EXPECT_EQ(marked("\xff\xc3", {2}, {{0, 2}})[0], TokenMark::begins_word);
}

TEST(Words, AnUnknownTokenBeginsOne) {
    EXPECT_EQ(marked("xy", {0}, {{0, 2}})[0], TokenMark::begins_word);
    EXPECT_EQ(marked("xy", {4}, {{0, 2}})[0], TokenMark::goes_on);
    EXPECT_EQ(marked("xy", {4}, {{0, 0}})[0], TokenMark::goes_on);  // of no characters, but none of the template's
}

TEST(Words, BySpacesWhereThereIsNoPrefix) {
    // "a bc", and a space that became a token of its own, cut off by its offsets.
    std::vector<std::int32_t> ids = {1, 5, 6, 7, 9, 1};
    std::vector<TokenOffset> offsets = {{0, 0}, {0, 1}, {2, 3}, {3, 4}, {4, 4}, {0, 0}};
    std::vector<TokenMark> marks(ids.size());
    const MarkedTokens tokens{ids.data(), offsets.data(), marks.data(), 6};
    mark_words(ByteLevelBpe{}, parts(), nullptr, "a bc", tokens);
    const std::vector<TokenMark> expected = {TokenMark::special, TokenMark::begins_word, TokenMark::begins_word,
                                             TokenMark::goes_on, TokenMark::goes_on,     TokenMark::special};
    EXPECT_EQ(marks, expected);
    Unigram unigram{};
    unigram.unknown_id = 7;
    mark_words(unigram, parts(), nullptr, "a bc", tokens);
    EXPECT_EQ(marks[3], TokenMark::begins_word);
    CharacterBpe merged{};
    merged.unknown_id = 7;
    mark_words(merged, parts(), nullptr, "a bc", tokens);
    EXPECT_EQ(marks[3], TokenMark::begins_word);
    for (const std::int32_t unknown : {-1, 6}) {
        merged.unknown_id = unknown;
        mark_words(merged, parts(), nullptr, "a bc", tokens);
        EXPECT_EQ(marks, expected);
    }
    mark_words(Bytes{}, parts(), nullptr, "a bc", tokens);
    EXPECT_EQ(marks, expected);
    mark_words(CodePoints{}, parts(), nullptr, "a bc", tokens);
    EXPECT_EQ(marks, expected);
    offsets[2] = {1, 3};  // with the space before it
    mark_words(unigram, parts(), nullptr, "a bc", tokens);
    EXPECT_EQ(marks[2], TokenMark::begins_word);
    mark_ids(parts(), nullptr, tokens);
    EXPECT_EQ(marks[0], TokenMark::special);
    EXPECT_EQ(marks[3], TokenMark::begins_word);
}

TEST(Words, BySpacesOfWholeWords) {
    const std::vector<std::int32_t> ids = {1, 5, 0, 7, 8, 1};
    std::vector<TokenOffset> offsets = {{0, 0}, {0, 1}, {1, 2}, {2, 3}, {4, 5}, {0, 0}};
    std::vector<TokenMark> marks(ids.size());
    mark_words(model(), parts(), nullptr, "abc d", {ids.data(), offsets.data(), marks.data(), 6});
    const std::vector<TokenMark> expected = {TokenMark::special, TokenMark::begins_word, TokenMark::begins_word,
                                             TokenMark::goes_on, TokenMark::begins_word, TokenMark::special};
    EXPECT_EQ(marks, expected);
}

TEST(Words, OfIds) {
    const std::vector<std::int32_t> ids = {1, 2, 3, 0};
    std::vector<TokenOffset> offsets(4);
    std::vector<TokenMark> marks(4);
    mark_ids(parts(), kCharacters, {ids.data(), offsets.data(), marks.data(), 4});
    const std::vector<TokenMark> expected = {TokenMark::special, TokenMark::begins_word, TokenMark::goes_on,
                                             TokenMark::begins_word};
    EXPECT_EQ(marks, expected);
    EXPECT_EQ(offsets[2].begin, 2U);
    EXPECT_EQ(offsets[2].end, 3U);
}

}  // namespace
}  // namespace etch
