// SPDX-License-Identifier: Apache-2.0
// What a self test says of a model that answers as it should, and of one in which a single thing is wrong: a bit of a
// table, of an answer, a number of tokens. The model is a list of answers.
#include "etch/calls/self_test.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "fake_workspace.hpp"

namespace etch::testing {
namespace {

constexpr char kTable[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
constexpr TableCheck kTables[] = {{kTable, sizeof kTable, 0xCBF43926}};  // the check value of this CRC
constexpr TableCheck kOtherTables[] = {{kTable, sizeof kTable, 0xCBF43926}, {kTable, sizeof kTable - 1, 0xCBF43926}};
constexpr std::int32_t kIds[] = {5, 6};
constexpr std::uint32_t kBits[][3] = {{0x3F800000, 0x40000000, 0x40400000},   // 1, 2, 3
                                      {0x40800000, 0x40A00000, 0x40C00000}};  // 4, 5, 6

struct Answer {
    Status status = Status::ok;
    std::uint32_t tokens = 2;
    std::uint32_t count = 2;
    float values[6] = {1, 2, 3, 4, 5, 6};
};
std::vector<Answer> answers;
std::size_t calls_made = 0;
bool asked_well = true;

struct ArrayResult {
    float logits[2];
    std::uint32_t tokens;
};
struct RowsResult {
    const float* logits;
    std::uint32_t count;
    std::uint32_t tokens;
};
void take(const Answer& answer, ArrayResult& result) {
    std::memcpy(result.logits, answer.values, sizeof result.logits);
}
void take(const Answer& answer, RowsResult& result) {
    result.logits = answer.values;
    result.count = answer.count;
}

template <class Result>
Status next(FakeWorkspace& workspace, Result& result) {
    const calls::Turn turn{workspace, &result};  // which the self test has lent
    asked_well = asked_well && turn && workspace.special_tokens == SpecialTokens::recognized;
    const Answer& answer = answers[calls_made++];
    take(answer, result);
    result.tokens = answer.tokens;
    return answer.status;
}
template <class Result>
Status of_text(FakeWorkspace& workspace, std::string_view text, Result& result) noexcept {
    asked_well = asked_well && text == "text";
    return next(workspace, result);
}
template <class Result>
Status of_ids(FakeWorkspace& workspace, const std::int32_t* ids, const std::uint8_t* segments, std::uint32_t count,
              Result& result) noexcept {
    asked_well = asked_well && ids == kIds && segments == nullptr && count == 2;
    return next(workspace, result);
}

// The status of so many answers, all right but for what `spoil` makes of number `wrong`.
template <class Result, class Goldens, class Spoil>
Status tested(const Goldens& goldens, std::size_t wrong, const Spoil& spoil) {
    answers.assign(4, Answer{});
    spoil(answers[wrong]);
    calls_made = 0;
    asked_well = true;
    FakeWorkspace workspace;
    const Status status = self_test(workspace, kTables, goldens, of_text<Result>, of_ids<Result>, &Result::logits);
    EXPECT_TRUE(asked_well);
    EXPECT_EQ(workspace.special_tokens, SpecialTokens::plain_text);
    EXPECT_EQ(workspace.in_use.load(), 0u);
    return status;
}

// Two goldens of one kind, `values` of whose answers are compared.
template <class Result, class Goldens>
void expect_each_difference_is_seen(const Goldens& goldens, std::size_t values, bool counts) {
    EXPECT_EQ(tested<Result>(goldens, 0, [](Answer&) {}), Status::ok);
    EXPECT_EQ(calls_made, 4u);
    for (std::size_t wrong = 0; wrong < 4; ++wrong) {
        const auto seen = [&](const auto& spoil, Status meant) {
            EXPECT_EQ(tested<Result>(goldens, wrong, spoil), meant);
            EXPECT_EQ(calls_made, wrong + 1);
        };
        seen([](Answer& answer) { answer.status = Status::no_tokens; }, Status::no_tokens);
        seen([](Answer& answer) { answer.tokens = 3; }, Status::golden_mismatch);
        for (std::size_t i = 0; i < values; ++i)
            seen([&](Answer& answer) { answer.values[i] = -answer.values[i]; }, Status::golden_mismatch);
        if (counts) seen([](Answer& answer) { answer.count = 1; }, Status::golden_mismatch);
    }
}

constexpr Golden<2> kOne{"text", 2, kIds, {0x3F800000, 0x40000000}};
constexpr GoldenRows<3> kRows{"text", 2, kIds, kBits};
constexpr GoldenMasks<3> kMasks{"text", 2, kIds, 2, kBits};

TEST(SelfTest, OfAnArray) {
    constexpr Golden<2> kGoldens[] = {kOne, kOne};
    expect_each_difference_is_seen<ArrayResult>(kGoldens, 2, false);
}

TEST(SelfTest, OfRowsOfTokens) {
    constexpr GoldenRows<3> kGoldens[] = {kRows, kRows};
    expect_each_difference_is_seen<RowsResult>(kGoldens, 6, false);
}

TEST(SelfTest, OfRowsOfMasks) {
    constexpr GoldenMasks<3> kGoldens[] = {kMasks, kMasks};
    expect_each_difference_is_seen<RowsResult>(kGoldens, 6, true);
}

TEST(SelfTest, OfTheCrcOfARow) {
    constexpr GoldenSum<3> kGoldens[] = {{"text", 2, kIds, 0xB20E96B1}, {"text", 2, kIds, 0xB20E96B1}};  // by zlib
    expect_each_difference_is_seen<RowsResult>(kGoldens, 3, false);
}

TEST(SelfTest, OfATextWithoutMasks) {
    constexpr GoldenMasks<3> kGoldens[] = {{"text", 2, kIds, 0, nullptr}};
    const auto none = [](Answer&) { answers[0].count = answers[1].count = 0; };
    EXPECT_EQ(tested<RowsResult>(kGoldens, 0, none), Status::ok);
    EXPECT_EQ(tested<RowsResult>(kGoldens, 0, [](Answer& answer) { answer.count = 0; }), Status::golden_mismatch);
}

TEST(SelfTest, AsksNothingOfADamagedModelOrWhileItIsInUse) {
    constexpr Golden<2> kGoldens[] = {kOne};
    FakeWorkspace workspace;
    calls_made = 0;
    EXPECT_EQ(
        self_test(workspace, kOtherTables, kGoldens, of_text<ArrayResult>, of_ids<ArrayResult>, &ArrayResult::logits),
        Status::table_mismatch);
    const InUse another{workspace};
    EXPECT_EQ(self_test(workspace, kTables, kGoldens, of_text<ArrayResult>, of_ids<ArrayResult>, &ArrayResult::logits),
              Status::workspace_in_use);
    EXPECT_EQ(calls_made, 0u);
}

// Of generative models.
struct WrittenResult {
    std::uint32_t tokens;
    std::uint32_t count;
    std::size_t bytes;
};
struct WrittenAnswer {
    Status status = Status::ok;
    std::uint32_t tokens = 2;
    std::vector<std::int32_t> target = {7, 8, 9};
    std::string_view spelled = "seven";
};
std::vector<WrittenAnswer> written;

const WrittenAnswer& next_written(FakeWorkspace& workspace, WrittenResult& result) {
    const calls::Turn turn{workspace, &result};
    const bool greedily = workspace.beams == 1 && workspace.max_target == 0 && workspace.sampling->temperature == 0;
    asked_well = asked_well && turn && greedily && workspace.special_tokens == SpecialTokens::recognized;
    const WrittenAnswer& answer = written[calls_made++];
    result.tokens = answer.tokens;
    return answer;
}
Status write_tokens(FakeWorkspace& workspace, const std::int32_t* ids, std::uint32_t count, std::int32_t* target,
                    std::uint32_t capacity, WrittenResult& result) noexcept {
    asked_well = asked_well && ids == kIds && count == 2 && capacity == 3;
    const WrittenAnswer& answer = next_written(workspace, result);
    std::memcpy(target, answer.target.data(), answer.target.size() * sizeof *target);
    result.count = static_cast<std::uint32_t>(answer.target.size());
    return answer.status;
}
Status write_text(FakeWorkspace& workspace, std::string_view text, char* target, std::size_t capacity,
                  WrittenResult& result) noexcept {
    asked_well = asked_well && text == "text" && capacity == 5;
    const WrittenAnswer& answer = next_written(workspace, result);
    std::memcpy(target, answer.spelled.data(), answer.spelled.size());
    result.bytes = answer.spelled.size();
    return answer.status;
}

constexpr std::int32_t kTarget[] = {7, 8, 9};
constexpr GoldenTarget kWritten = {"text", 2, kIds, 3, kTarget, "seven"};
constexpr GoldenTarget kTargets[] = {kWritten, kWritten};

template <class Test, class Spoil>
void expect_seen(const Test& test, Status meant, const Spoil& spoil) {
    for (std::size_t wrong = 0; wrong < 2; ++wrong) {
        written.assign(2, WrittenAnswer{});
        spoil(written[wrong]);
        calls_made = 0;
        asked_well = true;
        FakeWorkspace workspace;
        const Sampling drawn{1, 2, 3.0f, 4, 0.5f};
        workspace.sampling = &drawn;
        EXPECT_EQ(test(workspace), meant);
        EXPECT_TRUE(asked_well);
        EXPECT_EQ(calls_made, meant == Status::ok ? 2u : wrong + 1);
        EXPECT_EQ(workspace.special_tokens, SpecialTokens::plain_text);
        EXPECT_EQ(workspace.beams, 3);
        EXPECT_EQ(workspace.max_target, 7u);
        EXPECT_EQ(workspace.sampling, &drawn);
    }
}

TEST(SelfTest, OfWhatIsWrittenForTokens) {
    const auto test = [](FakeWorkspace& workspace) { return self_test(workspace, kTables, kTargets, write_tokens); };
    using Spoiled = WrittenAnswer&;
    expect_seen(test, Status::ok, [](Spoiled) {});
    expect_seen(test, Status::no_tokens, [](Spoiled answer) { answer.status = Status::no_tokens; });
    expect_seen(test, Status::golden_mismatch, [](Spoiled answer) { answer.target = {7, 8}; });
    for (std::size_t i = 0; i < 3; ++i)
        expect_seen(test, Status::golden_mismatch, [&](Spoiled answer) { ++answer.target[i]; });
}

TEST(SelfTest, OfTheTextThatIsWritten) {
    const auto test = [](FakeWorkspace& workspace) { return self_test_of_texts(workspace, kTargets, write_text); };
    using Spoiled = WrittenAnswer&;
    expect_seen(test, Status::ok, [](Spoiled) {});
    expect_seen(test, Status::no_tokens, [](Spoiled answer) { answer.status = Status::no_tokens; });
    expect_seen(test, Status::golden_mismatch, [](Spoiled answer) { answer.tokens = 1; });
    expect_seen(test, Status::golden_mismatch, [](Spoiled answer) { answer.spelled = "seve"; });
    expect_seen(test, Status::golden_mismatch, [](Spoiled answer) { answer.spelled = "sevem"; });
}

TEST(SelfTest, WritesNothingInADamagedModelOrWhileItIsInUse) {
    FakeWorkspace workspace;
    calls_made = 0;
    EXPECT_EQ(self_test(workspace, kOtherTables, kTargets, write_tokens), Status::table_mismatch);
    const InUse another{workspace};
    EXPECT_EQ(self_test(workspace, kTables, kTargets, write_tokens), Status::workspace_in_use);
    EXPECT_EQ(self_test_of_texts(workspace, kTargets, write_text), Status::workspace_in_use);
    EXPECT_EQ(calls_made, 0u);
}

}  // namespace
}  // namespace etch::testing
