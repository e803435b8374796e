// SPDX-License-Identifier: Apache-2.0
// That nothing of what a call is given lies where it writes.
#include "etch/overlap.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace etch::testing {
namespace {

// Against a look at each byte.
TEST(Written, HoldsWhatHasAByteInIt) {
    const char bytes[64] = {};
    constexpr std::size_t kBegin = 20;
    for (const std::size_t written : {0u, 1u, 8u}) {
        const Written memory{bytes + kBegin, written};
        for (std::size_t first = 0; first < 40; ++first) {
            for (const std::size_t count : {0u, 1u, 2u, 7u, 8u, 9u, 24u}) {
                bool one = false;
                for (std::size_t i = first; i < first + count; ++i)
                    one = one || (i >= kBegin && i < kBegin + written);
                EXPECT_EQ(memory.holds(bytes + first, count), one) << first << " " << count << " of " << written;
            }
        }
    }
}

// Inputs that lie elsewhere, and each of their texts once where the call writes: from its last byte on, up to its
// first.
class HoldsOne : public ::testing::Test {
  protected:
    static constexpr std::size_t kCount = 3;
    static constexpr const char* kElsewhere = "elsewhere";

    template <class Input, class SetText>
    void expect_each_is_seen(std::size_t texts_of_one, const SetText& set) {
        std::vector<Input> inputs(kCount);
        for (std::size_t text = 0; text < kCount * texts_of_one; ++text)
            set(inputs, text, kElsewhere, 9);
        EXPECT_FALSE(holds_one(memory_, inputs.data(), kCount));
        EXPECT_FALSE(holds_one(memory_, inputs.data(), 0));
        for (std::size_t text = 0; text < kCount * texts_of_one; ++text) {
            for (const char* const within : {bytes_ + 15, bytes_ + 31}) {
                set(inputs, text, within, 2);
                EXPECT_TRUE(holds_one(memory_, inputs.data(), kCount)) << text;
                EXPECT_FALSE(holds_one(memory_, inputs.data(), text / texts_of_one)) << text;
                set(inputs, text, within, 0);
                EXPECT_FALSE(holds_one(memory_, inputs.data(), kCount)) << text;
            }
            for (const char* const beside : {bytes_ + 14, bytes_ + 32}) {
                set(inputs, text, beside, 2);
                EXPECT_FALSE(holds_one(memory_, inputs.data(), kCount)) << text;
            }
            set(inputs, text, kElsewhere, 9);
        }
        const Written list{&inputs[kCount - 1], 1};
        EXPECT_TRUE(holds_one(list, inputs.data(), kCount));
        EXPECT_FALSE(holds_one(list, inputs.data(), kCount - 1));
    }

    char bytes_[48] = {};
    const Written memory_{bytes_ + 16, 16};
};

TEST_F(HoldsOne, Texts) {
    expect_each_is_seen<std::string_view>(1, [](auto& all, std::size_t text, const char* data, std::size_t size) {
        all[text] = {data, size};
    });
    expect_each_is_seen<etch_text>(1, [](auto& all, std::size_t text, const char* data, std::size_t size) {
        all[text] = {data, size};
    });
}

TEST_F(HoldsOne, Pairs) {
    const auto set = [](auto& all, std::size_t text, const char* data, std::size_t size) {
        auto& pair = all[text / 2];
        (text % 2 == 0 ? pair.first : pair.second) = {data, size};
    };
    expect_each_is_seen<TextPair>(2, set);
    expect_each_is_seen<etch_text_pair>(2, set);
}

}  // namespace
}  // namespace etch::testing
