// SPDX-License-Identifier: Apache-2.0
// A text read some tokens at a time is the text read at once, and words begin where segmenters find them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "calls.hpp"

namespace {

using namespace tokenizer_calls;
using etch::TokenStream;

struct Read {
    std::vector<std::int32_t> ids;
    std::vector<TokenOffset> offsets;
    std::vector<int> begins;
};

// Reads until `wanted` are there, then goes on by `step` tokens. At most 100 are read.
template <class Tables>
Read read_by(const Tables& tables, std::string_view text, std::uint32_t wanted, std::uint32_t step) {
    constexpr std::uint32_t kCapacity = 200;
    std::vector<std::uint64_t> scratch(etch::tokenizer_scratch_bytes(tables) / 8 + 1);
    std::vector<std::int32_t> ids(kCapacity);
    std::vector<TokenOffset> offsets(kCapacity);
    std::vector<std::uint8_t> begins(kCapacity, 9);
    TokenStream stream{};
    stream.ids = ids.data();
    stream.offsets = offsets.data();
    stream.begins = begins.data();
    stream.capacity = kCapacity;
    EXPECT_EQ(etch::open_stream(tables, text, SpecialTokens::recognized, scratch.data(), stream), Status::ok);
    EXPECT_TRUE(stream.more);
    EXPECT_EQ(stream.count, 0U);
    Read all;
    std::uint32_t drop = 0;
    do {
        etch::read_stream(tables, drop, wanted, stream);
        EXPECT_TRUE(!stream.more || stream.count >= wanted);
        drop = std::min(step, stream.count);
        const std::uint32_t taken = stream.more ? drop : stream.count;
        for (std::uint32_t i = 0; i < taken; ++i) {
            all.ids.push_back(ids[i]);
            all.offsets.push_back(offsets[i]);
            all.begins.push_back(begins[i]);
        }
    } while (stream.more && all.ids.size() < 100);
    const std::uint32_t last = stream.count;
    etch::read_stream(tables, last, wanted, stream);  // nothing is behind the end
    EXPECT_EQ(stream.count, 0U);
    EXPECT_FALSE(stream.more);
    return all;
}

const char* const kTexts[] = {"", "hello", "the <l>unaffable <n> world. New York",
                              "a<r> a<r>a hello, world! <w>. aaaaaaa", "the caf\u00e9 <n><n> \u4e2d\u6587 <s> hi  "};

TEST(Stream, GivesWhatOneCallGives) {
    for (const std::string text : kTexts) {
        const Output whole = run(kWithTokens, text);
        const std::vector<std::int32_t> ids(whole.ids.begin() + 1, whole.ids.end() - 1);  // without the template
        for (const std::uint32_t wanted : {0U, 1U, 2U, 3U, 7U, 50U}) {
            for (const std::uint32_t step : {1U, 2U, 5U}) {
                const Read read = read_by(kWithTokens, text, std::max(wanted, step), step);
                ASSERT_EQ(read.ids, ids) << text << wanted << step;
                for (std::size_t i = 0; i < ids.size(); ++i) {
                    ASSERT_EQ(read.offsets[i].begin, whole.offsets[i + 1].begin) << text;
                    ASSERT_EQ(read.offsets[i].end, whole.offsets[i + 1].end) << text;
                }
            }
        }
    }
}

TEST(Stream, SaysWhereWordsBegin) {
    const std::string text = "unaffable, aaaaaaa<l>hello";
    const Read read = read_by(kWithTokens, text, 2, 1);
    EXPECT_EQ(read.begins, (std::vector<int>{1, 0, 0, 1, 1, 0, 0, 0, 1, 1}));
}

// Of bytes each character is a word.
TEST(Stream, Bytes) {
    const Read read = read_by(test_vocabulary::kBytesAlone, "a\u00e9 </s> \u4e2d", 2, 1);
    EXPECT_EQ(read.ids, (std::vector<std::int32_t>{3 + 'a', 3 + 0xC3, 3 + 0xA9, 1, 3 + 0xE4, 3 + 0xB8, 3 + 0xAD}));
    EXPECT_EQ(read.begins, (std::vector<int>{1, 1, 0, 1, 1, 0, 0}));
}

}  // namespace
