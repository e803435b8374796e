// SPDX-License-Identifier: Apache-2.0
// Which texts share bytes with memory that a call writes, in the forms of C++ and C.
#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>

#include "etch/session.hpp"

namespace etch {
namespace {

char bytes[64];

TEST(Overlap, MemoryThatIsWritten) {
    struct Case {
        std::size_t begin, count;  // what is read
        bool overlaps;             // with [16, 32)
    };
    constexpr Case kCases[] = {{0, 16, false}, {0, 17, true},  {15, 1, false}, {15, 2, true}, {16, 1, true},
                               {31, 1, true},  {31, 33, true}, {32, 1, false}, {0, 64, true}, {20, 0, false},
                               {16, 0, false}, {8, 0, false},  {40, 0, false}, {20, 4, true}};
    for (const Case& one : kCases) {
        EXPECT_EQ((Written{bytes + 16, 16}.holds(bytes + one.begin, one.count)), one.overlaps) << one.begin;
        EXPECT_FALSE((Written{bytes + 16, 0}.holds(bytes + one.begin, one.count))) << one.begin;
    }
}

template <class Text>
Text text(std::size_t begin, std::size_t count) {
    return {bytes + begin, count};
}

template <class Text>
void expect_texts() {
    const Written memory{bytes + 16, 16};
    const Text texts[] = {text<Text>(0, 8), text<Text>(40, 8), text<Text>(24, 1)};
    EXPECT_FALSE(holds_one(memory, texts, 0));
    EXPECT_FALSE(holds_one(memory, texts, 2));
    EXPECT_TRUE(holds_one(memory, texts, 3));
    EXPECT_TRUE(holds_one({texts + 1, 1}, texts, 2));  // the list itself
}

template <class Pair, class Text>
void expect_pairs() {
    const Written memory{bytes + 16, 16};
    const Text apart = text<Text>(0, 8);
    const Text within = text<Text>(24, 1);
    const Pair pairs[] = {{apart, apart}, {within, apart}};
    const Pair second[] = {{apart, apart}, {apart, within}, {apart, apart}};
    EXPECT_FALSE(holds_one(memory, pairs, 0));
    EXPECT_FALSE(holds_one(memory, pairs, 1));
    EXPECT_TRUE(holds_one(memory, pairs, 2));
    EXPECT_TRUE(holds_one(memory, second, 3));
    EXPECT_TRUE(holds_one({pairs, 1}, pairs, 1));
}

TEST(Overlap, TextsAndTheirList) {
    expect_texts<std::string_view>();
    expect_texts<etch_text>();
}

TEST(Overlap, PairsAndTheirList) {
    expect_pairs<TextPair, std::string_view>();
    expect_pairs<etch_text_pair, etch_text>();
}

}  // namespace
}  // namespace etch
