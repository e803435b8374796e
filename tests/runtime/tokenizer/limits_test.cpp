// SPDX-License-Identifier: Apache-2.0
// Texts too long for 32-bit positions are refused unread: they lie in memory that cannot be read.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "etch/tokenizer.hpp"
#include "test_vocabulary.hpp"

namespace {

using etch::SpecialTokens;
using etch::Status;
using etch::Tokenized;
using test_vocabulary::kUncased;

class TokenizerLimits : public testing::Test {
  protected:
    void SetUp() override {
        memory_ = mmap(nullptr, etch::kLongestText + 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory_ == MAP_FAILED) GTEST_SKIP() << "this machine gives out no 4 GiB of addresses";
    }
    void TearDown() override {
        if (memory_ != MAP_FAILED) munmap(memory_, etch::kLongestText + 1);
    }
    std::string_view text(std::size_t size) const { return {static_cast<const char*>(memory_), size}; }
    Status pair(std::string_view first, std::string_view second) {
        return etch::tokenize_pair(kUncased, first, second, SpecialTokens::recognized, nullptr, {}, result_);
    }

    void* memory_ = MAP_FAILED;
    Tokenized result_{77, true, true};
};

TEST_F(TokenizerLimits, SingleText) {
    EXPECT_EQ(etch::tokenize(kUncased, text(etch::kLongestText + 1), SpecialTokens::recognized, nullptr, {}, result_),
              Status::text_too_long);
    EXPECT_EQ(result_.count, 0U);
    EXPECT_FALSE(result_.truncated);
}

TEST_F(TokenizerLimits, EitherTextOfAPair) {
    EXPECT_EQ(pair(text(etch::kLongestText + 1), "a"), Status::text_too_long);
    EXPECT_EQ(result_.count, 0U);
    EXPECT_EQ(pair("a", text(etch::kLongestText + 1)), Status::text_too_long);
    EXPECT_FALSE(result_.truncated);
}

TEST_F(TokenizerLimits, ATextThatIsReadInParts) {
    etch::TokenStream stream{};
    EXPECT_EQ(etch::open_stream(kUncased, text(etch::kLongestText + 1), SpecialTokens::recognized, nullptr, stream),
              Status::text_too_long);
}

// Without room for the template nothing is read, whatever the length.
TEST_F(TokenizerLimits, TheLongestTextIsNotTooLong) {
    EXPECT_EQ(etch::tokenize(kUncased, text(etch::kLongestText), SpecialTokens::recognized, nullptr, {}, result_),
              Status::ok);
    EXPECT_TRUE(result_.truncated);
    EXPECT_EQ(pair(text(etch::kLongestText), text(etch::kLongestText)), Status::ok);
    EXPECT_TRUE(result_.truncated);
}

// As many as a pair of 4 GiB can be counted to.
TEST(TokenWriter, TheCountStaysAtItsEnd) {
    std::int32_t id = 0;
    etch::tokenizer::TokenWriter out{&id, nullptr, 1};
    out.count = UINT32_MAX - 1;
    for (int i = 0; i < 3; ++i)
        out.write(7, 0, 1);
    EXPECT_EQ(out.count, UINT32_MAX);
    EXPECT_EQ(id, 0);
}

}  // namespace
