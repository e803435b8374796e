// SPDX-License-Identifier: Apache-2.0
// What Python 3.11 answers of single scalars.
#include "etch/tokenizer/characters.hpp"

#include <gtest/gtest.h>

namespace {

using etch::is_space_character;
using etch::is_word_character;
using etch::lower_case;

TEST(Characters, LowerCase) {
    EXPECT_EQ(lower_case('A'), U'a');
    EXPECT_EQ(lower_case('a'), U'a');
    EXPECT_EQ(lower_case('['), U'[');
    EXPECT_EQ(lower_case(U'\u00c9'), U'\u00e9');
    EXPECT_EQ(lower_case(U'\u1e9e'), U'\u00df');          // becomes one of lower value
    EXPECT_EQ(lower_case(U'\u13a0'), U'\uab70');          // far away
    EXPECT_EQ(lower_case(U'\U00010400'), U'\U00010428');  // in its plane
}

TEST(Characters, OfWords) {
    for (const std::uint32_t scalar : {U'a', U'9', U'_', U'\u00e9', U'\u0e01', U'\U00010400'})
        EXPECT_TRUE(is_word_character(scalar)) << scalar;
    for (const std::uint32_t scalar : {U'-', U' ', U'\u2014', U'\U0001f600'})
        EXPECT_FALSE(is_word_character(scalar)) << scalar;
}

TEST(Characters, WhiteSpace) {
    for (const std::uint32_t scalar : {0x09U, 0x0DU, 0x1CU, 0x1DU, 0x1EU, 0x1FU, 0x20U, 0x85U, 0xA0U, 0x2028U, 0x3000U})
        EXPECT_TRUE(is_space_character(scalar)) << scalar;
    for (const std::uint32_t scalar : {0x08U, 0x0EU, 0x1BU, 0x21U, 0x200BU, 0xFEFFU})
        EXPECT_FALSE(is_space_character(scalar)) << scalar;
}

}  // namespace
