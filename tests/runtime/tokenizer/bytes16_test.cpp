// SPDX-License-Identifier: Apache-2.0
// What reads sixteen bytes at a time finds what is found byte by byte.
#include "tokenizer/bytes16.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "calls.hpp"

namespace {

using namespace tokenizer_calls;

#if defined(__SSE2__)
TEST(Bytes16, EveryByteAtEveryPlace) {
    using etch::tokenizer::Bytes16;
    for (unsigned place = 0; place < 16; ++place) {
        for (unsigned byte = 0; byte < 256; ++byte) {
            std::array<std::uint8_t, 16> bytes{};
            bytes[place] = static_cast<std::uint8_t>(byte);
            const Bytes16 all(bytes.data());
            const auto bit = [place](bool is) { return is ? 1U << place : 0U; };
            const std::uint32_t others = 0xFFFFU & ~(1U << place);  // which are 0
            EXPECT_EQ(all.equal_to(0xC3), bit(byte == 0xC3)) << byte;
            EXPECT_EQ(all.between('a', 'z'), bit(byte >= 'a' && byte <= 'z')) << byte;
            EXPECT_EQ(all.between(0, 0xF0), others | bit(byte <= 0xF0)) << byte;
            EXPECT_EQ(all.between('[', '['), bit(byte == '[')) << byte;
            std::array<std::uint8_t, 16> lower{};
            all.lower_case().store(lower.data());
            bytes[place] = static_cast<std::uint8_t>(byte >= 'A' && byte <= 'Z' ? byte + 0x20 : byte);
            EXPECT_EQ(lower, bytes) << byte;
        }
    }
}
#endif

// What was not searched for tokens yet is not read ahead.
TEST(Bytes16, ATokenInTheMiddleOfAWord) {
    constexpr std::uint8_t kText[] = {'h', 'e', 'l', 'l', 'o'};
    constexpr std::uint32_t kBegins[] = {0, 5};
    constexpr std::int32_t kIds[] = {7};
    constexpr std::uint8_t kFlags[] = {0};
    constexpr std::uint32_t kFirstBytes[8] = {0, 0, 0, 1U << ('h' - 'a' + 1)};
    BertTokenizer tables = kUncased;
    tables.raw_tokens = {kText, kBegins, kIds, kFlags, kFirstBytes, 1};
    for (std::uint32_t before = 0; before < 300; ++before) {
        const Output out = run(tables, repeat(" ", static_cast<int>(before)) + "aahelloaaaaaaaaaaaaaaaaaaaaaaa", 300);
        const auto found = std::find(out.ids.begin(), out.ids.end(), 7);
        ASSERT_NE(found, out.ids.end()) << before;
        const TokenOffset& place = out.offsets[static_cast<std::size_t>(found - out.ids.begin())];
        EXPECT_EQ(place.begin, before + 2);
        EXPECT_EQ(place.end, before + 7);
        EXPECT_EQ((&place)[-1].end, before + 2);  // nothing of it belongs to the word before it, or behind it
        EXPECT_EQ((&place)[1].begin, before + 7);
    }
}

// A text, against the same vocabulary with tokens that are matched in normalized text: with these every
// character is read by itself.
TEST(Bytes16, TextsReadAheadAreReadAlike) {
    const std::string characters = "aaaabbccddeeffhhiillooTHEzyx019  ,.!?[]\t\xc3\xa9";
    std::mt19937 random(20261122);
    for (int round = 0; round < 3000; ++round) {
        std::string text(random() % (round % 10 == 0 ? 700 : 60), ' ');
        const std::size_t kinds = round % 2 == 0 ? characters.size() : 26;  // words up to the longest and beyond
        for (char& c : text)
            c = characters[random() % kinds];
        const Output fast = run(kUncased, text, 1000);
        const Output slow = run(kWithTokens, text, 1000);
        ASSERT_EQ(fast.pieces, slow.pieces) << text;
        for (std::size_t i = 0; i < fast.offsets.size(); ++i) {
            ASSERT_EQ(fast.offsets[i].begin, slow.offsets[i].begin) << text;
            ASSERT_EQ(fast.offsets[i].end, slow.offsets[i].end) << text;
        }
    }
}

}  // namespace
