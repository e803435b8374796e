// SPDX-License-Identifier: Apache-2.0
// The default model on a GPU: the bits of the CPU in exact mode, close to them in fast mode; texts, pairs, token ids,
// batches.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "agnews_cuda.hpp"
#include "device_array.hpp"

namespace {

namespace model = etch::agnews;
namespace gpu = etch::agnews::cuda;
using etch::Status;

constexpr std::uint32_t kBatchRows = 600;  // of the larger session: passes of several texts

std::string text_of(std::uint32_t seed, std::size_t words) {
    static const char* const kWords[] = {"market", "shares", "rocket", "won",  "the",      "a",  "late",
                                         "goal",   "bank",   "[SEP]",  "café", "minister", "--", "software"};
    std::string text;
    for (std::size_t i = 0; i < words; ++i) {
        seed = seed * 1664525u + 1013904223u;
        text += kWords[(seed >> 16) % (sizeof kWords / sizeof kWords[0])];
        text += ' ';
    }
    return text;
}

std::vector<std::string> some_texts() {
    std::vector<std::string> texts{"", "Oil prices rise as the central bank waits."};
    for (const std::size_t words : {1u, 12u, 27u, 31u, 33u, 60u, 61u, 64u, 5u, 5u, 100u, 130u, 400u, 2u})
        texts.push_back(text_of(static_cast<std::uint32_t>(words), words));
    return texts;
}

void expect_same(const model::Result& device, const model::Result& cpu, const std::string& text) {
    EXPECT_EQ(std::memcmp(device.logits, cpu.logits, sizeof cpu.logits), 0) << text;
    EXPECT_EQ(std::memcmp(device.probability, cpu.probability, sizeof cpu.probability), 0) << text;
    EXPECT_EQ(device.label, cpu.label);
    EXPECT_EQ(device.tokens, cpu.tokens);
    EXPECT_EQ(device.truncated, cpu.truncated);
}

void expect_close(const model::Result& device, const model::Result& cpu, const std::string& text) {
    constexpr float kTolerance = 0.15f;  // the 8-bit products of the CPU are the coarser ones
    for (std::uint32_t i = 0; i < model::kLabelCount; ++i)
        EXPECT_NEAR(device.logits[i], cpu.logits[i], kTolerance) << text;
    EXPECT_EQ(device.tokens, cpu.tokens);
}

class Model : public etch::testing::KernelTest, public ::testing::WithParamInterface<gpu::Mode> {
  protected:
    static model::Workspace& workspace() {
        static model::Workspace only;
        return only;
    }

    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped()) return;
        ASSERT_EQ(gpu::open(weights, 0, GetParam()), Status::ok);
        ASSERT_EQ(gpu::open(session, weights, kBatchRows), Status::ok);
    }

    void expect(const model::Result& device, const model::Result& cpu, const std::string& text) {
        if (GetParam() == gpu::Mode::exact) {
            expect_same(device, cpu, text);
        } else {
            expect_close(device, cpu, text);
        }
    }

    gpu::Weights weights;
    gpu::Session session;
};

TEST_P(Model, TextsOneByOne) {
    for (const std::string& text : some_texts()) {
        model::Result device, cpu;
        ASSERT_EQ(gpu::classify(session, text, device), Status::ok);
        ASSERT_EQ(model::classify(workspace(), text, cpu), Status::ok);
        expect(device, cpu, text);
    }
}

TEST_P(Model, BatchesHaveTheBitsOfSingleTexts) {
    const std::vector<std::string> texts = some_texts();
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    std::vector<model::Result> batch(views.size());
    ASSERT_EQ(gpu::classify_batch(session, views.data(), views.size(), batch.data()), Status::ok);
    for (std::size_t i = 0; i < views.size(); ++i) {
        model::Result cpu;
        ASSERT_EQ(model::classify(workspace(), views[i], cpu), Status::ok);
        expect(batch[i], cpu, texts[i]);
    }
}

TEST_P(Model, PairsAndTokens) {
    model::Result device, cpu;
    ASSERT_EQ(gpu::classify_pair(session, "Stocks fell.", "They rose later.", device), Status::ok);
    ASSERT_EQ(model::classify_pair(workspace(), "Stocks fell.", "They rose later.", cpu), Status::ok);
    expect(device, cpu, "a pair");

    const std::int32_t ids[] = {2, 891, 171, 77, 3};
    const std::uint8_t segments[] = {0, 0, 1, 1, 1};
    for (const std::uint8_t* of_tokens : {static_cast<const std::uint8_t*>(nullptr), segments}) {
        ASSERT_EQ(gpu::classify_tokens(session, ids, of_tokens, 5, device), Status::ok);
        ASSERT_EQ(model::classify_tokens(workspace(), ids, of_tokens, 5, cpu), Status::ok);
        expect(device, cpu, "token ids");
    }
}

TEST_P(Model, RefusesWhatTheCpuRefuses) {
    model::Result result;
    const std::int32_t ids[] = {2, -1};
    EXPECT_EQ(gpu::classify_tokens(session, ids, nullptr, 0, result), Status::no_tokens);
    EXPECT_EQ(gpu::classify_tokens(session, ids, nullptr, model::kMaxTokens + 1, result), Status::too_many_tokens);
    EXPECT_EQ(gpu::classify_tokens(session, ids, nullptr, 2, result), Status::token_out_of_range);
    const std::string_view too_long(nullptr, std::size_t{1} << 32);
    EXPECT_EQ(gpu::classify(session, too_long, result), Status::text_too_long);
    EXPECT_EQ(gpu::classify_batch(session, &too_long, 1, &result), Status::text_too_long);
    EXPECT_EQ(gpu::classify_batch(session, nullptr, 0, nullptr), Status::ok);
    EXPECT_EQ(gpu::classify(session, "and goes on", result), Status::ok);
}

TEST_P(Model, ReadsSpecialTokensAsTheSessionSays) {
    model::Result recognized, plain;
    ASSERT_EQ(gpu::classify(session, "a [SEP] b", recognized), Status::ok);
    session.special_tokens = etch::SpecialTokens::plain_text;
    ASSERT_EQ(gpu::classify(session, "a [SEP] b", plain), Status::ok);
    EXPECT_LT(recognized.tokens, plain.tokens);
}

TEST_P(Model, SessionsShareWeights) {
    gpu::Session other;
    ASSERT_EQ(gpu::open(other, weights), Status::ok);
    model::Result first, second;
    ASSERT_EQ(gpu::classify(session, "Shares of the carrier fell.", first), Status::ok);
    ASSERT_EQ(gpu::classify(other, "Shares of the carrier fell.", second), Status::ok);
    EXPECT_EQ(std::memcmp(first.logits, second.logits, sizeof first.logits), 0);
}

TEST_P(Model, TwoThreadsHaveASessionEach) {
    gpu::Session other;
    ASSERT_EQ(gpu::open(other, weights), Status::ok);
    const std::vector<std::string> texts = some_texts();
    std::vector<model::Result> ours(texts.size()), theirs(texts.size());
    std::vector<Status> statuses(texts.size());
    std::thread thread([&] {
        for (std::size_t i = 0; i < texts.size(); ++i)
            statuses[i] = gpu::classify(other, texts[i], theirs[i]);
    });
    for (std::size_t i = 0; i < texts.size(); ++i)
        EXPECT_EQ(gpu::classify(session, texts[i], ours[i]), Status::ok);
    thread.join();
    for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ(statuses[i], Status::ok);
        EXPECT_EQ(std::memcmp(ours[i].logits, theirs[i].logits, sizeof ours[i].logits), 0) << texts[i];
    }
}

TEST_P(Model, FiguresAreThoseOfThePlan) {
    EXPECT_EQ(weights.bytes, gpu::weights_bytes(GetParam()));
    EXPECT_EQ(session.figures.device_bytes, gpu::session_bytes(GetParam(), kBatchRows));
    EXPECT_EQ(session.figures.graphs, 8u);  // 256 tokens
    EXPECT_GT(session.figures.host_bytes, 0u);
}

std::string name_of(const ::testing::TestParamInfo<gpu::Mode>& info) {
    return info.param == gpu::Mode::exact ? "exact" : "fast";
}

INSTANTIATE_TEST_SUITE_P(Modes, Model, ::testing::Values(gpu::Mode::exact, gpu::Mode::fast), name_of);

}  // namespace
