// SPDX-License-Identifier: Apache-2.0
// The rules of Unicode Standard Annex 29 for extended grapheme clusters, one by one.
#include "tokenizer/unicode/graphemes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

// 1 for each scalar at which a cluster begins, else 0.
std::string begins(const std::u32string& text) {
    etch::tokenizer::GraphemeBreaks breaks;
    std::string found;
    for (const char32_t scalar : text)
        found += breaks.begins_at(scalar) ? '1' : '0';
    return found;
}

TEST(Graphemes, Controls) {  // GB3 to GB5
    EXPECT_EQ(begins(U"ab"), "11");
    EXPECT_EQ(begins(U"\r\n"), "10");
    EXPECT_EQ(begins(U"\n\r"), "11");
    EXPECT_EQ(begins(U"\r\r\n\n"), "1101");
    EXPECT_EQ(begins(U"\ra\n"), "111");
    EXPECT_EQ(begins(U"\n\u0301a"), "111");
    EXPECT_EQ(begins(U"a\u200b\u0301"), "111");
    EXPECT_EQ(begins(U"\u0301a"), "11");
}

TEST(Graphemes, Hangul) {  // GB6 to GB8
    EXPECT_EQ(begins(U"\u1100\u1100\u1161\u1161\u11a8\u11a8"), "100000");
    EXPECT_EQ(begins(U"\u1100\uac00\u1161\u11a8"), "1000");
    EXPECT_EQ(begins(U"\u1100\uac01\u11a8"), "100");
    EXPECT_EQ(begins(U"\uac00\u11a8"), "10");
    EXPECT_EQ(begins(U"\uac01\u1161"), "11");
    EXPECT_EQ(begins(U"\uac00\uac00"), "11");
    EXPECT_EQ(begins(U"\uac00\u1100"), "11");
    EXPECT_EQ(begins(U"\u1100\u11a8"), "11");
    EXPECT_EQ(begins(U"\u1161\u1100"), "11");
    EXPECT_EQ(begins(U"\u11a8\u1161"), "11");
    EXPECT_EQ(begins(U"\u11a8\uac00"), "11");
    EXPECT_EQ(begins(U"a\u1161"), "11");
    EXPECT_EQ(begins(U"\u1100a"), "11");
}

TEST(Graphemes, MarksAndWhatPrecedes) {  // GB9 to GB9b
    EXPECT_EQ(begins(U"a\u0301\u0301b"), "1001");
    EXPECT_EQ(begins(U"a\u0903b"), "101");
    EXPECT_EQ(begins(U"a\u200db"), "101");
    EXPECT_EQ(begins(U"\u0600a\u0301"), "100");
    EXPECT_EQ(begins(U"\u0600\u0600a"), "100");
    EXPECT_EQ(begins(U"\u0600\n"), "11");
    EXPECT_EQ(begins(U"a\u0600"), "11");
}

TEST(Graphemes, Conjuncts) {  // GB9c
    EXPECT_EQ(begins(U"\u0915\u094d\u0915"), "100");
    EXPECT_EQ(begins(U"\u0915\u094d\u094d\u0915"), "1000");
    EXPECT_EQ(begins(U"\u0915\u094d\u200d\u0915"), "1000");
    EXPECT_EQ(begins(U"\u0915\u093c\u094d\u0915"), "1000");
    EXPECT_EQ(begins(U"\u0915\u094d\u093c\u0915"), "1000");
    EXPECT_EQ(begins(U"\u0915\u094d\u0915\u094d\u0915"), "10000");
    EXPECT_EQ(begins(U"\u0915\u0915"), "11");
    EXPECT_EQ(begins(U"\u0915\u093c\u0915"), "101");
    EXPECT_EQ(begins(U"\u0915\u0903\u094d\u0915"), "1001");
    EXPECT_EQ(begins(U"\u0915\u094da"), "101");
    EXPECT_EQ(begins(U"a\u094d\u0915"), "101");
    EXPECT_EQ(begins(U"\u094d\u0915"), "11");
}

TEST(Graphemes, Pictures) {  // GB11
    EXPECT_EQ(begins(U"\U0001f469\u200d\U0001f467"), "100");
    EXPECT_EQ(begins(U"\U0001f469\u0308\u0308\u200d\u2764"), "10000");
    EXPECT_EQ(begins(U"\u2764\u200d\u2764\u200d\u2764"), "10000");
    EXPECT_EQ(begins(U"\u2764\u2764"), "11");
    EXPECT_EQ(begins(U"\u2764\u0308\u2764"), "101");
    EXPECT_EQ(begins(U"\u2764\u200d\u200d\u2764"), "1001");
    EXPECT_EQ(begins(U"\u2764\u200d\u0308\u2764"), "1001");
    EXPECT_EQ(begins(U"\u2764\u0903\u200d\u2764"), "1001");
    EXPECT_EQ(begins(U"\u2764\u200da"), "101");
    EXPECT_EQ(begins(U"a\u200d\u2764"), "101");
    EXPECT_EQ(begins(U"a\u0301\u200d\u2764"), "1001");
    EXPECT_EQ(begins(U"\u2764a\u200d\u2764"), "1101");
}

}  // namespace
