// SPDX-License-Identifier: Apache-2.0
// What every call checks of what it is given: ids and segments, and that nothing of it lies where the call writes.
#include "etch/session.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace etch::testing {
namespace {

constexpr TokenLimits kLimits{4, 100, 2};

Status check(const std::vector<std::int32_t>& ids, const std::vector<std::uint8_t>& segments = {}) {
    return check_tokens(ids.data(), segments.empty() ? nullptr : segments.data(),
                        static_cast<std::uint32_t>(ids.size()), kLimits);
}

TEST(CheckTokens, OneToAsManyAsTheModelTakes) {
    EXPECT_EQ(check({}), Status::no_tokens);
    EXPECT_EQ(check({5}), Status::ok);
    EXPECT_EQ(check({5, 6, 7, 8}), Status::ok);
    EXPECT_EQ(check({5, 6, 7, 8, 9}), Status::too_many_tokens);
}

TEST(CheckTokens, IdsAndSegmentsWithinTheTables) {
    for (const std::int32_t id : {0, 99})
        EXPECT_EQ(check({5, id}), Status::ok) << id;
    for (const std::int32_t id : {-1, 100, INT32_MIN, INT32_MAX}) {
        EXPECT_EQ(check({id, 5}), Status::token_out_of_range) << id;
        EXPECT_EQ(check({5, id}), Status::token_out_of_range) << id;
    }
    EXPECT_EQ(check({5, 6}, {0, 1}), Status::ok);
    EXPECT_EQ(check({5, 6}, {0, 2}), Status::segment_out_of_range);
    EXPECT_EQ(check({5, 6}, {255, 0}), Status::segment_out_of_range);
}

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

TEST(Argmax, TheLowestOfTheLargest) {
    const float values[] = {1.0f, 3.0f, -5.0f, 3.0f, 2.0f};
    EXPECT_EQ(argmax(values, 5), 1u);
    EXPECT_EQ(argmax(values, 1), 0u);
    EXPECT_EQ(argmax(values + 2, 3), 1u);
}

}  // namespace
}  // namespace etch::testing
