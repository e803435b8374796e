// SPDX-License-Identifier: Apache-2.0
// Which texts go into one batch, and where.
#include "etch/calls/batch.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <vector>

#include "test_vocabulary.hpp"

namespace {

using etch::Batch;
using etch::SpecialTokens;
using etch::Status;
using etch::TextRows;
using test_vocabulary::kUncased;

// Of so many tokens, specials included: each "." is one.
std::string text_of(std::size_t tokens) {
    return std::string(tokens - 2, '.');
}

class TokenizeBatch : public testing::Test {
  protected:
    Status run(const std::vector<std::size_t>& lengths, std::uint32_t capacity) {
        texts_.clear();
        for (const std::size_t length : lengths)
            texts_.push_back(text_of(length));
        const std::vector<std::string_view> views(texts_.begin(), texts_.end());
        ids_.assign(capacity, -1);
        segments_.assign(capacity, 9);
        rows_.assign(etch::most_texts(capacity), {});
        scratch_.resize(etch::tokenizer_scratch_bytes(kUncased));
        return etch::tokenize_batch(kUncased, views.data(), views.size(), SpecialTokens::recognized, scratch_.data(),
                                    {ids_.data(), segments_.data(), nullptr, capacity}, rows_.data(), batch_);
    }
    void expect_row(std::size_t text, std::uint32_t first, std::uint32_t count, std::uint32_t place) const {
        EXPECT_EQ(rows_[text].first, first);
        EXPECT_EQ(rows_[text].count, count);
        EXPECT_EQ(rows_[text].place, place);
        EXPECT_EQ(ids_[first], kUncased.parts.single[0].id);
        EXPECT_EQ(ids_[first + count - 1], kUncased.parts.single[2].id);
    }

    std::vector<std::string> texts_;
    std::vector<std::int32_t> ids_;
    std::vector<std::uint8_t> segments_;
    std::vector<std::uint64_t> scratch_;
    std::vector<TextRows> rows_;
    Batch batch_{};
};

TEST_F(TokenizeBatch, RowsFollowEachOtherAndPlacesAreMultiplesOf16) {
    ASSERT_EQ(run({5, 2, 17, 16}, 100), Status::ok);
    EXPECT_EQ(batch_.count, 4u);
    EXPECT_FALSE(batch_.truncated);
    expect_row(0, 0, 5, 0);
    expect_row(1, 5, 2, 16);
    expect_row(2, 7, 17, 32);
    expect_row(3, 24, 16, 64);
    EXPECT_EQ(ids_[40], -1);
}

TEST_F(TokenizeBatch, WhatDoesNotFitIsLeft) {
    ASSERT_EQ(run({30, 33, 2}, 64), Status::ok);
    EXPECT_EQ(batch_.count, 1u);
    ASSERT_EQ(run({30, 32, 2}, 64), Status::ok);
    EXPECT_EQ(batch_.count, 2u);
    ASSERT_EQ(run({2, 2, 2, 2, 2}, 64), Status::ok);
    EXPECT_EQ(batch_.count, 4u);
    ASSERT_EQ(run({2, 2}, 31), Status::ok);  // no whole place left
    EXPECT_EQ(batch_.count, 1u);
    EXPECT_FALSE(batch_.truncated);
}

TEST_F(TokenizeBatch, OnlyAFirstTextIsCut) {
    ASSERT_EQ(run({65, 2}, 64), Status::ok);
    EXPECT_EQ(batch_.count, 1u);
    EXPECT_TRUE(batch_.truncated);
    expect_row(0, 0, 64, 0);
    ASSERT_EQ(run({2, 65}, 64), Status::ok);
    EXPECT_EQ(batch_.count, 1u);
    EXPECT_FALSE(batch_.truncated);
}

// Of a tokenizer that adds none. They take no place, so that there would be more of them than rows.
TEST_F(TokenizeBatch, ATextWithoutTokensIsRefused) {
    etch::BertTokenizer bare = kUncased;
    bare.parts = {
        1, 2, {{etch::TemplatePart::kFirst, 0}}, {{etch::TemplatePart::kFirst, 0}, {etch::TemplatePart::kSecond, 1}}};
    ASSERT_EQ(run({2}, 64), Status::ok);
    const auto batch_of = [&](const std::vector<std::string_view>& views) {
        return etch::tokenize_batch(bare, views.data(), views.size(), SpecialTokens::recognized, scratch_.data(),
                                    {ids_.data(), segments_.data(), nullptr, 64}, rows_.data(), batch_);
    };
    EXPECT_EQ(batch_of({"", ""}), Status::no_tokens);
    EXPECT_EQ(batch_of({".", " ", "."}), Status::no_tokens);
    EXPECT_EQ(batch_of({".", "."}), Status::ok);
    EXPECT_EQ(batch_.count, 2u);
}

TEST_F(TokenizeBatch, ATextThatIsTooLongIsRefused) {
    void* const memory = mmap(nullptr, 0xFFFFFFFF, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) GTEST_SKIP() << "this machine gives out no 4 GiB of addresses";
    ASSERT_EQ(run({2}, 64), Status::ok);
    const std::string_view views[] = {texts_[0], {static_cast<const char*>(memory), 0xFFFFFFFF}};
    EXPECT_EQ(etch::tokenize_batch(kUncased, views, 2, SpecialTokens::recognized, scratch_.data(),
                                   {ids_.data(), segments_.data(), nullptr, 64}, rows_.data(), batch_),
              Status::text_too_long);
    munmap(memory, 0xFFFFFFFF);
}

}  // namespace
