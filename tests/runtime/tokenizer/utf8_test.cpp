// SPDX-License-Identifier: Apache-2.0
// UTF-8 read forwards and backwards: the edges of well-formedness, byte by byte.
#include "tokenizer/unicode/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using etch::tokenizer::decode;
using etch::tokenizer::decode_before;
using etch::tokenizer::Decoded;
using etch::tokenizer::encode;
using etch::tokenizer::kReplacement;
using namespace std::string_literals;

void expect_decoded(std::string_view text, std::uint32_t scalar, std::uint32_t size) {
    const Decoded found = decode(text, 0);
    EXPECT_EQ(found.scalar, scalar) << testing::PrintToString(std::string(text));
    EXPECT_EQ(found.size, size) << testing::PrintToString(std::string(text));
}

TEST(Utf8, FirstAndLastOfEachLength) {
    expect_decoded("\0"s, 0, 1);
    expect_decoded("\x7f", 0x7F, 1);
    expect_decoded("\xc2\x80", 0x80, 2);
    expect_decoded("\xdf\xbf", 0x7FF, 2);
    expect_decoded("\xe0\xa0\x80", 0x800, 3);
    expect_decoded("\xed\x9f\xbf", 0xD7FF, 3);
    expect_decoded("\xee\x80\x80", 0xE000, 3);
    expect_decoded("\xef\xbf\xbf", 0xFFFF, 3);
    expect_decoded("\xf0\x90\x80\x80", 0x10000, 4);
    expect_decoded("\xf4\x8f\xbf\xbf", 0x10FFFF, 4);
}

TEST(Utf8, MalformedEndsBeforeTheByteThatCannotContinue) {
    expect_decoded("\x80", kReplacement, 1);
    expect_decoded("\xc1\xbf", kReplacement, 1);          // overlong
    expect_decoded("\xe0\x9f\xbf", kReplacement, 1);      // overlong
    expect_decoded("\xed\xa0\x80", kReplacement, 1);      // a surrogate
    expect_decoded("\xf0\x8f\xbf\xbf", kReplacement, 1);  // overlong
    expect_decoded("\xf4\x90\x80\x80", kReplacement, 1);  // beyond 10FFFF
    expect_decoded("\xf5\x80\x80\x80", kReplacement, 1);
    expect_decoded("\xc3", kReplacement, 1);
    expect_decoded("\xe2\x82", kReplacement, 2);
    expect_decoded("\xe2\x82z", kReplacement, 2);
    expect_decoded("\xf0\x9f\x98z", kReplacement, 3);
    expect_decoded("\xf0\x9f\xc3\xa9", kReplacement, 2);
}

// Every byte at every place of a sequence that is well-formed up to there, against what the bits would mean.
TEST(Utf8, EveryByteAtEveryPlace) {
    const std::string begins[] = {"",     "\xc2", "\xdf", "\xe0",     "\xe1",     "\xed",        "\xef",
                                  "\xf0", "\xf1", "\xf4", "\xe1\x80", "\xf1\x80", "\xf1\x80\x80"};
    for (const std::string& begin : begins) {
        for (unsigned byte = 0; byte < 256; ++byte) {
            std::string text = begin + static_cast<char>(byte);
            const auto first = static_cast<unsigned char>(text[0]);
            const std::uint32_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
            text.resize(size < text.size() ? text.size() : size, '\x80');
            std::uint32_t scalar = size == 1 ? first : first & (0x7FU >> size);
            for (std::uint32_t i = 1; i < size; ++i)
                scalar = scalar << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
            const bool continues =
                begin.empty() ? first < 0x80 || (first >= 0xC0 && first < 0xF8) : (byte & 0xC0) == 0x80;
            constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
            const bool is_scalar = scalar >= kLeast[size] && scalar <= 0x10FFFF && (scalar < 0xD800 || scalar > 0xDFFF);
            if (continues && is_scalar) {
                expect_decoded(text, scalar, size);
            } else {
                expect_decoded(text, kReplacement, begin.empty() ? 1 : static_cast<std::uint32_t>(begin.size()));
            }
        }
    }
}

TEST(Utf8, EncodedIsDecodedAgain) {
    for (std::uint32_t scalar = 0; scalar <= 0x10FFFF; ++scalar) {
        if (scalar >= 0xD800 && scalar <= 0xDFFF) continue;
        std::uint8_t bytes[4];
        const std::string_view text(reinterpret_cast<const char*>(bytes), encode(scalar, bytes));
        const Decoded forwards = decode(text, 0);
        const auto size = static_cast<std::uint32_t>(text.size());
        const Decoded backwards = decode_before(text, size);
        ASSERT_TRUE(forwards.scalar == scalar && forwards.size == size) << scalar;
        ASSERT_TRUE(backwards.scalar == scalar && backwards.size == size) << scalar;
    }
}

void expect_before(std::string_view text, std::uint32_t scalar, std::uint32_t size) {
    const Decoded found = decode_before(text, static_cast<std::uint32_t>(text.size()));
    EXPECT_EQ(found.scalar, scalar) << testing::PrintToString(std::string(text));
    EXPECT_EQ(found.size, size) << testing::PrintToString(std::string(text));
}

TEST(Utf8, BackwardsFindsOnlyWhatEndsThere) {
    expect_before("az", 'z', 1);
    expect_before("a\xc3\xa9", 0xE9, 2);
    expect_before("\xe4\xb8\xad", 0x4E2D, 3);
    expect_before("a\xf0\x9f\x98\x80", 0x1F600, 4);
    expect_before("a\xff", kReplacement, 1);
    expect_before("a\xe2\x82", kReplacement, 2);          // cut off: one malformed sequence
    expect_before("\xc3\xa9\x80", kReplacement, 1);       // ends before: the last byte is one of its own
    expect_before("z\x80", kReplacement, 1);              // likewise
    expect_before("\x80", kReplacement, 1);               // nothing begins it
    expect_before("\x80\x80\x80", kReplacement, 1);       // nothing begins it
    expect_before("a\x80\x80\x80\x80", kReplacement, 1);  // no sequence is that long
    expect_before("\xf0\x9f\x98\x80\x80", kReplacement, 1);
}

}  // namespace
