// SPDX-License-Identifier: Apache-2.0
// How a C function calls the one of C++: in a workspace that malloc() gave, and with lists of texts of its own layout.
#include "etch/calls/c_functions.hpp"

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

// What another call, which writes other results, is told meanwhile.
std::vector<bool> others;

Status measure_batch(FakeWorkspace& workspace, const std::string_view* texts, std::size_t count,
                     Result* results) noexcept {
    const calls::Turn turn{workspace.in_use, results};
    if (!turn) return turn.refusal();
    batches.push_back(count);
    for (std::size_t i = 0; i < count; ++i) {
        results[i].size = texts[i].size();
        read += texts[i];
    }
    return read.find('!') == std::string::npos ? Status::ok : Status::no_tokens;
}

// Texts whose reading is a moment between two parts, at which another call comes.
etch_status interrupted_batch(FakeWorkspace& workspace, const etch_text* texts, std::size_t count, Result* results) {
    const auto read_text = [&](const etch_text& text) {
        Result other{};
        std::string_view one{"x", 1};
        others.push_back(measure_batch(workspace, &one, 1, &other) == Status::workspace_in_use);
        return c_functions::cpp_text(text);
    };
    const auto nowhere = [](const Written&) { return false; };
    return c_functions::call_in_parts(measure_batch, &workspace, texts, count, results, read_text, nowhere);
}

class CFunctions : public ::testing::Test {
  protected:
    void SetUp() override {
        batches.clear();
        others.clear();
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

TEST_F(CFunctions, KeepTheWorkspaceFromPartToPart) {
    const std::vector<etch_text> texts(20, etch_text{"ab", 2});
    EXPECT_EQ(interrupted_batch(workspace_, texts.data(), 20, results_), ETCH_OK);
    EXPECT_EQ(others, std::vector<bool>(20, true));
    EXPECT_EQ(read.size(), 40u);
    EXPECT_EQ(batch(texts.data(), 1), ETCH_OK);  // it is free again
    const calls::Turn turn{workspace_.in_use};
    EXPECT_EQ(batch(texts.data(), 1), ETCH_WORKSPACE_IN_USE);
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
