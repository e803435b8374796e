// SPDX-License-Identifier: Apache-2.0
// How a C function calls the one of C++: in a workspace that malloc() gave, and with lists of texts of its own layout.
#include "etch/c_functions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_workspace.hpp"

namespace etch::testing {
namespace {

std::vector<std::size_t> batches;
std::string read;
Status answer = Status::ok;

struct Result {
    std::size_t size;
};

Status measure(FakeWorkspace&, std::string_view text, Result& result) noexcept {
    result.size = text.size();
    return answer;
}

Status measure_batch(FakeWorkspace&, const std::string_view* texts, std::size_t count, Result* results) noexcept {
    batches.push_back(count);
    for (std::size_t i = 0; i < count; ++i) {
        results[i].size = texts[i].size();
        read += texts[i];
    }
    return read.find('!') == std::string::npos ? Status::ok : Status::no_tokens;
}

class CFunctions : public ::testing::Test {
  protected:
    void SetUp() override {
        batches.clear();
        read.clear();
        answer = Status::ok;
        workspace_.regions = {{places_, places_ + 32}};
    }

    etch_status batch(const etch_text* texts, std::size_t count) {
        return c_functions::call_batch(measure_batch, &workspace_, texts, count, results_);
    }

    FakeWorkspace workspace_;
    std::uint8_t places_[64] = {};
    Result results_[20] = {};
};

TEST_F(CFunctions, HandTextsAndStatusesThrough) {
    Result result{};
    EXPECT_EQ(c_functions::call(measure, &workspace_, {"abc", 3}, result), ETCH_OK);
    EXPECT_EQ(result.size, 3u);
    answer = Status::token_out_of_range;
    EXPECT_EQ(c_functions::call(measure, &workspace_, {"", 0}, result), ETCH_TOKEN_OUT_OF_RANGE);
}

TEST_F(CFunctions, RefuseAWorkspaceBetweenTwoPlacesForIt) {
    auto* const beside = reinterpret_cast<std::uint8_t*>(&workspace_) + 4;
    Result result{9};
    EXPECT_EQ(c_functions::call(measure, beside, {"abc", 3}, result), ETCH_WORKSPACE_MISALIGNED);
    EXPECT_EQ(result.size, 9u);
    const etch_text text{"abc", 3};
    EXPECT_EQ(c_functions::call_batch(measure_batch, beside, &text, 1, &result), ETCH_WORKSPACE_MISALIGNED);
    EXPECT_TRUE(batches.empty());
}

TEST_F(CFunctions, GiveABatchInParts) {
    const std::vector<etch_text> texts(20, etch_text{"ab", 2});
    EXPECT_EQ(batch(texts.data(), 20), ETCH_OK);
    EXPECT_EQ(batches, (std::vector<std::size_t>{0, 8, 8, 4}));  // the first ends a call in steps
    EXPECT_EQ(read.size(), 40u);
    for (const Result& result : results_)
        EXPECT_EQ(result.size, 2u);
    batches.clear();
    EXPECT_EQ(batch(nullptr, 0), ETCH_OK);
    EXPECT_EQ(batches, (std::vector<std::size_t>{0}));
}

TEST_F(CFunctions, EndABatchWithAPartThatIsRefused) {
    std::vector<etch_text> texts(20, etch_text{"ab", 2});
    texts[3] = {"!", 1};
    EXPECT_EQ(batch(texts.data(), 20), ETCH_NO_TOKENS);
    EXPECT_EQ(batches, (std::vector<std::size_t>{0, 8}));
}

TEST_F(CFunctions, RefuseABatchThatLiesWhereItWrites) {
    const char* const inside[] = {reinterpret_cast<char*>(&workspace_), reinterpret_cast<char*>(places_ + 40),
                                  reinterpret_cast<char*>(results_ + 1)};
    for (const char* const place : inside) {
        const etch_text texts[] = {{"ab", 2}, {place, 1}};
        EXPECT_EQ(batch(texts, 2), ETCH_TEXT_OVERLAPS);
        EXPECT_EQ(batch(texts, 1), ETCH_OK);
    }
    auto* const list = reinterpret_cast<etch_text*>(results_);
    list[0] = {"ab", 2};
    EXPECT_EQ(batch(list, 1), ETCH_TEXT_OVERLAPS);
}

}  // namespace
}  // namespace etch::testing
