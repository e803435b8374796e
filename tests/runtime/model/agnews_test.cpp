// SPDX-License-Identifier: Apache-2.0
// The default model whole, with the runtime that counts kernel calls: which kernels run, equal bits, every status.
#include <gtest/gtest.h>

#include <agnews.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/call_count.hpp"
#include "runtime/kernels/kernel_calls.hpp"

namespace etch {
namespace {

using etch::testing::reset_kernel_calls;

const char* const kText = "The central bank left interest rates unchanged, and the cup final went to penalties.";

std::vector<std::string> usable_kernels() {
    std::vector<std::string> names;
    while (!agnews::usable_kernel(names.size()).empty())
        names.emplace_back(agnews::usable_kernel(names.size()));
    return names;
}

std::uint64_t calls_of(CountedSet set) {
    std::uint64_t sum = 0;
    for (const std::uint64_t calls : kernel_calls[set])
        sum += calls;
    return sum;
}

using testing::counted;

class Agnews : public ::testing::Test {
  protected:
    agnews::Workspace workspace;
    agnews::Result result{};
};

TEST_F(Agnews, ForcedKernelsAreTheOnlyOnesThatRun) {
    for (const std::string& name : usable_kernels()) {
        ASSERT_EQ(agnews::select_kernel(workspace, name), Status::ok) << name;
        EXPECT_EQ(agnews::kernel(workspace), name);
        reset_kernel_calls();
        ASSERT_EQ(agnews::classify(workspace, kText, result), Status::ok);
        for (const CountedFunction function : {kCountMatmulS8, kCountMatmulF32, kCountQuantizeRow, kCountQuantizeRowS8,
                                               kCountLayerNormRow, kCountExp2Row, kCountQuantizeProbabilities}) {
            EXPECT_GT(kernel_calls[counted(name, function)][function], 0u) << name << " function " << function;
        }
        for (unsigned set = 0; set < kCountedSets; ++set) {
            for (unsigned function = 0; function < kCountedFunctions; ++function) {
                if (set == counted(name, static_cast<CountedFunction>(function))) continue;
                EXPECT_EQ(kernel_calls[set][function], 0u) << name << " ran set " << set << " function " << function;
            }
        }
    }
}

TEST_F(Agnews, WithoutAChoiceTheBestKernelsRun) {
    reset_kernel_calls();
    ASSERT_EQ(agnews::classify(workspace, kText, result), Status::ok);
    EXPECT_EQ(agnews::kernel(workspace), usable_kernels().front());
    EXPECT_GT(calls_of(counted(usable_kernels().front())), 0u);
}

TEST_F(Agnews, EveryKernelGivesTheSameBits) {
    std::string text;
    for (int words = 0; words < 300; words += 37) {
        agnews::Result first{};
        for (const std::string& name : usable_kernels()) {
            ASSERT_EQ(agnews::select_kernel(workspace, name), Status::ok);
            ASSERT_EQ(agnews::classify(workspace, text, result), Status::ok);
            if (name == usable_kernels().front()) first = result;
            EXPECT_EQ(std::memcmp(&result, &first, sizeof(result)), 0) << name << " with " << words << " words";
        }
        for (int i = 0; i < 37; ++i)
            text += "stock goal virus vote ";
    }
    EXPECT_TRUE(result.truncated);
}

TEST_F(Agnews, UnknownKernelChangesNothing) {
    const std::string before(agnews::kernel(workspace));
    EXPECT_EQ(agnews::select_kernel(workspace, "nonsense"), Status::kernel_unknown);
    EXPECT_EQ(agnews::select_kernel(workspace, ""), Status::kernel_unknown);
    EXPECT_EQ(agnews::kernel(workspace), before);
}

TEST_F(Agnews, TokenIdsAreCheckedBeforeAnythingRuns) {
    const std::int32_t good[] = {2, 3};
    std::vector<std::int32_t> ids(agnews::kMaxTokens + 1, 2);
    reset_kernel_calls();
    EXPECT_EQ(agnews::classify_tokens(workspace, good, nullptr, 0, result), Status::no_tokens);
    EXPECT_EQ(agnews::classify_tokens(workspace, ids.data(), nullptr, agnews::kMaxTokens + 1, result),
              Status::too_many_tokens);
    const std::int32_t negative[] = {2, -1};
    EXPECT_EQ(agnews::classify_tokens(workspace, negative, nullptr, 2, result), Status::token_out_of_range);
    const std::int32_t large[] = {2, 1 << 30};
    EXPECT_EQ(agnews::classify_tokens(workspace, large, nullptr, 2, result), Status::token_out_of_range);
    const std::uint8_t segments[] = {0, 2};
    EXPECT_EQ(agnews::classify_tokens(workspace, good, segments, 2, result), Status::segment_out_of_range);
    for (unsigned set = 0; set < kCountedSets; ++set)
        EXPECT_EQ(calls_of(static_cast<CountedSet>(set)), 0u);
    EXPECT_EQ(agnews::classify_tokens(workspace, ids.data(), nullptr, agnews::kMaxTokens, result), Status::ok);
    EXPECT_EQ(agnews::classify_tokens(workspace, good, nullptr, 1, result), Status::ok);
    const std::int32_t first[] = {2, 0};
    EXPECT_EQ(agnews::classify_tokens(workspace, first, nullptr, 2, result), Status::ok);
}

TEST_F(Agnews, TextAndItsTokensGiveTheSameBits) {
    static agnews::Encoding encoding;
    ASSERT_EQ(agnews::encode_pair(workspace, kText, "A second text.", encoding), Status::ok);
    agnews::Result from_tokens{};
    ASSERT_EQ(agnews::classify_pair(workspace, kText, "A second text.", result), Status::ok);
    ASSERT_EQ(agnews::classify_tokens(workspace, encoding.ids, encoding.segments, encoding.count, from_tokens),
              Status::ok);
    EXPECT_EQ(std::memcmp(result.logits, from_tokens.logits, sizeof(result.logits)), 0);
    EXPECT_EQ(encoding.segments[encoding.count - 1], 1);
}

TEST_F(Agnews, SelfTestPassesOnEveryKernel) {
    for (const std::string& name : usable_kernels()) {
        ASSERT_EQ(agnews::select_kernel(workspace, name), Status::ok);
        EXPECT_EQ(agnews::self_test(workspace), Status::ok) << name;
    }
}

}  // namespace
}  // namespace etch
