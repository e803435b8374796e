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
using etch::tokenizer::well_formed_size;
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

TEST(Utf8, TheWholeOfWhatIsWellFormed) {
    for (const std::string& good : {""s, "\0"s, "\x7f"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xed\x9f\xbf"s,
                                    "\xee\x80\x80"s, "\xef\xbf\xbf"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s}) {
        EXPECT_EQ(well_formed_size(good), good.size()) << testing::PrintToString(good);
        EXPECT_EQ(well_formed_size("a" + good + "b"), good.size() + 2) << testing::PrintToString(good);
    }
}

TEST(Utf8, TheWellFormedEndsBeforeWhatIsNot) {
    for (const std::string& bad :
         {"\x80"s, "\xbf"s, "\xc0\x80"s, "\xc1\xbf"s, "\xc2"s, "\xc2\x7f"s, "\xc2\xc0"s, "\xe0\x9f\xbf"s, "\xe0\xa0"s,
          "\xe1\x80\xc0"s, "\xed\xa0\x80"s, "\xed\xbf\xbf"s, "\xf0\x8f\xbf\xbf"s, "\xf0\x90\x80"s, "\xf0\x90\x80\x7f"s,
          "\xf1\x80\xc0\x80"s, "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xff"s}) {
        EXPECT_EQ(well_formed_size("ab" + bad), 2U) << testing::PrintToString(bad);
        EXPECT_EQ(well_formed_size("ab" + bad + "cd"), 2U) << testing::PrintToString(bad);
    }
}

// Every text of up to four bytes out of these, against a decoder by the numbers.
std::size_t by_numbers(const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
        const std::size_t length = byte(at) < 0x80   ? 1
                                   : byte(at) < 0xC0 ? 0
                                   : byte(at) < 0xE0 ? 2
                                   : byte(at) < 0xF0 ? 3
                                   : byte(at) < 0xF8 ? 4
                                                     : 0;
        if (length == 0 || at + length > text.size()) return at;
        std::uint32_t scalar = length == 1 ? byte(at) : byte(at) & (0x7Fu >> length);
        for (std::size_t i = at + 1; i < at + length; ++i) {
            if ((byte(i) & 0xC0) != 0x80) return at;
            scalar = scalar << 6 | (byte(i) & 0x3Fu);
        }
        const std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        if (scalar < least[length] || (scalar >= 0xD800 && scalar < 0xE000) || scalar > 0x10FFFF) return at;
        at += length;
    }
    return at;
}

TEST(Utf8, WellFormedInEveryCombinationOfEdges) {
    const std::string edges =
        "a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff";
    const std::size_t n = edges.size();
    for (std::size_t i = 0; i < n * n * n * n; ++i) {
        const std::string text{edges[i % n], edges[i / n % n], edges[i / n / n % n], edges[i / n / n / n]};
        ASSERT_EQ(well_formed_size(text), by_numbers(text)) << testing::PrintToString(text);
    }
}

}  // namespace
