// SPDX-License-Identifier: Apache-2.0
// Spans of a window and how those of several are put together, by hand; what the pipeline of `transformers` finds is
// compared with whole models (tests/end_to_end/tasks/test_answer_programs.py).
#include "etch/decode/answers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace etch {
namespace {

constexpr TemplatePart kQuestion{TemplatePart::kFirst, 0};
constexpr TemplatePart kContext{TemplatePart::kSecond, 1};
constexpr Template kPair{3, 5, {{2, 0}, kQuestion, {3, 0}}, {{2, 0}, kQuestion, {3, 0}, kContext, {3, 1}}};
constexpr Template kBare{1, 3, {kQuestion}, {kQuestion, {3, 0}, kContext}};  // begins with no special token
constexpr Template kSwapped{1, 3, {kQuestion}, {kContext, {3, 0}, kQuestion}};

// A question about a context of single letters, each a token and a word where no other is said.
struct Question {
    explicit Question(std::string_view context) {
        state.context = context;
        state.of_texts = true;
        state.windows = 1;
        state.count = static_cast<std::uint32_t>(context.size());
        state.stream.offsets = memory.offsets;
        state.stream.begins = memory.begins;
        for (std::uint32_t i = 0; i < state.count; ++i) {
            memory.offsets[i] = {i, i + 1};
            memory.begins[i] = 1;
        }
    }

    // Of a window: probabilities, behind those of the first special token.
    void add(const std::vector<float>& starts, const std::vector<float>& ends) {
        std::copy(starts.begin(), starts.end(), memory.starts);
        std::copy(ends.begin(), ends.end(), memory.ends);
        state.count = static_cast<std::uint32_t>(starts.size()) - (parts == &kPair ? 1 : 0);
        add_answers(options, static_cast<std::uint32_t>(starts.size()), answers.data(),
                    static_cast<std::uint32_t>(answers.size()), state);
    }

    std::vector<AnswerSpan> finish() {
        const std::uint32_t count =
            finish_answers(options, answers.data(), static_cast<std::uint32_t>(answers.size()), state);
        return {answers.begin(), answers.begin() + count};
    }

    QuestionMemory<16, 4> memory{};
    QuestionState& state = memory.begin();
    const Template* parts = &kPair;
    AnswerOptions options{};
    std::vector<AnswerSpan> answers = std::vector<AnswerSpan>(8);
};

std::vector<std::string> shown(const std::vector<AnswerSpan>& answers) {
    std::vector<std::string> texts;
    for (const AnswerSpan& answer : answers)
        texts.push_back(std::to_string(answer.begin) + "-" + std::to_string(answer.end) + " " +
                        std::to_string(std::lround(1000 * answer.score)));
    return texts;
}

using Texts = std::vector<std::string>;

TEST(Answers, EndsAreThoseOfTheFirstSpecialTokenAndOfTheContext) {
    float logits[2 * 6] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    QuestionMemory<8, 1> memory{};
    QuestionState& state = memory.begin();
    state.first = 3;
    state.count = 2;
    ASSERT_EQ(gather_ends(kPair, {logits, 2}, state), 3u);
    EXPECT_EQ(std::vector<float>(state.starts, state.starts + 3), (std::vector<float>{1, 7, 9}));
    EXPECT_EQ(std::vector<float>(state.ends, state.ends + 3), (std::vector<float>{2, 8, 10}));
    ASSERT_EQ(gather_ends(kBare, {logits, 2}, state), 2u);
    EXPECT_EQ(state.starts[0], 7);
    EXPECT_EQ(gather_ends(kSwapped, {logits, 2}, state), 2u);
}

TEST(Answers, OfTokenIdsWithoutTheFirstSpecialTokenAllRowsAreOfTheContext) {
    float logits[2 * 8] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    QuestionMemory<8, 1> memory{};
    QuestionState& state = memory.begin();
    state.count = 8;
    state.windows = 1;
    ASSERT_EQ(gather_ends(kPair, {logits, 2}, state), 8u);
    EXPECT_EQ(state.starts[0], 1);
    EXPECT_EQ(state.starts[7], 15);
    EXPECT_EQ(state.ends[0], 2);
    EXPECT_EQ(memory.ids[0], 0);  // behind the ends
    std::fill_n(memory.starts, 8, 0.0f);
    std::fill_n(memory.ends, 8, 0.0f);
    memory.starts[0] = memory.ends[0] = 0.5f;
    memory.offsets[0] = {0, 1};
    AnswerSpan answers[2]{};
    add_answers({}, 8, answers, 2, state);
    EXPECT_EQ(answers[0].score, 0.25f);
    EXPECT_EQ(answers[0].begin, 0u);
    EXPECT_EQ(state.no_answer, 0.0f);
}

TEST(Answers, OfEqualScoresTheOneThatBeginsAndEndsFirst) {
    Question question("abc");
    question.options.top = 4;
    question.add({0, 0.5f, 0.5f, 0}, {0, 0, 0.5f, 0.5f});
    EXPECT_EQ(shown(question.finish()), (Texts{"0-2 250", "0-3 250", "1-2 250", "1-3 250"}));
}

TEST(Answers, NoneIsLongerThanWanted) {
    Question question("abc");
    question.options.longest = 2;
    question.add({0, 1, 0, 0}, {0, 0.25f, 0.5f, 1});
    EXPECT_EQ(shown(question.finish()), Texts{"0-2 500"});
    Question usual("abcdefghijklmnop");
    usual.parts = &kBare;
    std::vector<float> starts(16, 0.0f), ends(16, 0.0f);
    starts[0] = 1;
    ends[15] = 1;
    ends[14] = 0.5f;
    usual.add(starts, ends);
    EXPECT_EQ(shown(usual.finish()), Texts{"0-15 500"});  // 15 tokens
}

TEST(Answers, TwelveSpansOfAWindowAreLookedAtForOneAnswer) {
    std::vector<float> starts(17, 0.0f);
    for (std::size_t i = 1; i < starts.size(); ++i)
        starts[i] = 1.0f / static_cast<float>(i);
    for (const bool by_tokens : {false, true}) {
        for (const std::uint32_t top : {0u, 1u, 2u}) {
            Question question("abcdefghijklmnop");
            question.answers.resize(16);
            question.options = {top, 0, 0, 1, false, by_tokens};
            question.add(starts, std::vector<float>(17, 1.0f));
            const std::uint32_t wanted = top == 2 ? 2 : 1;
            EXPECT_EQ(question.state.found, by_tokens ? wanted : 2 * wanted + 10);
            EXPECT_EQ(question.finish().size(), wanted);
        }
    }
}

TEST(Answers, AreWidenedToWords) {
    Question question("abcde");
    question.memory.begins[2] = question.memory.begins[3] = 0;
    question.add({0, 0, 0, 1, 0, 0}, {0, 0, 0, 1, 0, 0});
    EXPECT_EQ(shown(question.finish()), Texts{"1-4 1000"});
    Question tokens("abcde");
    tokens.memory.begins[2] = tokens.memory.begins[3] = 0;
    tokens.options.by_tokens = true;
    tokens.add({0, 0, 0, 1, 0, 0}, {0, 0, 0, 1, 0, 0});
    EXPECT_EQ(shown(tokens.finish()), Texts{"2-3 1000"});
    Question first("abc");  // the window's first word begins before it
    first.memory.begins[0] = first.memory.begins[1] = 0;
    first.add({0, 0, 1, 0}, {0, 0, 1, 0});
    EXPECT_EQ(shown(first.finish()), Texts{"0-2 1000"});
}

TEST(Answers, OfOneTextInAnyCaseAreAddedUp) {
    Question question("aAbéÉ");  // of 2 bytes each, the last two
    question.memory.offsets[3] = {3, 5};
    question.memory.offsets[4] = {5, 7};
    question.options.top = 5;
    question.options.by_tokens = true;
    question.options.longest = 1;
    question.add({0, 0.25f, 0.25f, 0.5f, 0.125f, 0.25f}, {0, 1, 1, 1, 1, 1});
    EXPECT_EQ(shown(question.finish()), (Texts{"2-3 500", "0-1 500", "5-7 375"}));
}

TEST(Answers, OneThatIsTheBeginningOfAnotherIsAnother) {
    Question question("aba");
    question.options.top = 2;
    question.options.by_tokens = true;
    question.add({0, 1, 0, 0}, {0, 0.5f, 0.25f, 0});
    EXPECT_EQ(shown(question.finish()), (Texts{"0-1 500", "0-2 250"}));
}

TEST(Answers, OfTokenIdsAreNumbersOfTokens) {
    Question question("ab");
    question.state.context = {};
    question.options.top = 3;
    question.options.by_tokens = true;
    question.add({0, 0.5f, 0.25f, 0}, {0, 0.5f, 0.25f, 0});
    question.add({0, 0.5f, 0, 0}, {0, 0.5f, 0, 0});
    EXPECT_EQ(shown(question.finish()), Texts({"0-1 500", "0-2 125", "1-2 63"}));
}

TEST(Answers, OneForWhichThereIsNoRoomTakesThePlaceOfTheWorst) {
    Question question("abcd");
    question.answers.resize(2);
    question.options.top = 3;
    question.options.by_tokens = true;
    question.options.longest = 1;
    question.add({0, 0.25f, 0.25f, 0, 0}, {0, 1, 1, 0, 0});
    EXPECT_EQ(question.state.found, 2u);
    question.add({0, 0, 0, 0.25f, 0.5f},
                 {0, 0, 0, 1, 1});  // of equally bad ones the later one goes, for a better one only
    EXPECT_EQ(shown(question.finish()), (Texts{"3-4 500", "0-1 250"}));
    Question nowhere("ab");
    nowhere.answers.clear();
    nowhere.options.no_answer = true;
    nowhere.add({0, 1, 0}, {0, 1, 0});
    EXPECT_EQ(shown(nowhere.finish()), Texts{});
}

TEST(Answers, NoAnswerHasTheLeastOfItsScores) {
    Question question("ab");
    question.options.no_answer = true;
    question.options.top = 2;
    question.options.longest = 1;
    question.add({0.5f, 0.25f, 0}, {1, 1, 0});
    ++question.state.windows;
    question.add({0.5f, 0.125f, 0}, {0.75f, 1, 0});
    ++question.state.windows;
    question.add({0.5f, 0, 0}, {1, 0, 0});
    EXPECT_EQ(shown(question.finish()), (Texts{"0-1 375", "0-0 375"}));
}

TEST(Answers, NoAnswerTakesThePlaceOfTheWorst) {
    Question question("abc");
    question.answers.resize(3);
    question.options = {4, 0, 0, 1, true, true};
    question.add({0.25f, 0.5f, 0.125f, 0.25f}, {1, 1, 1, 1});
    EXPECT_EQ(shown(question.finish()), (Texts{"0-1 500", "2-3 250", "0-0 250"}));
    Question worst_first("abc");
    worst_first.answers.resize(2);
    worst_first.options = {2, 0, 0, 1, true, true};
    worst_first.add({0, 0.5f, 0.25f, 0}, {1, 1, 1, 0});
    worst_first.add({0, 0, 0, 0.75f}, {1, 0, 0, 1});  // a second window's, which takes the place of the last one
    EXPECT_EQ(shown(worst_first.finish()), (Texts{"2-3 750", "0-0 0"}));
    Question bare("ab");  // no token stands for it
    bare.parts = &kBare;
    bare.options = {2, 0, 0, 1, true, true};
    bare.add({0.5f, 0}, {1, 0});
    EXPECT_EQ(shown(bare.finish()), (Texts{"0-1 500", "1-2 0"}));
}

TEST(Answers, WhatIsNoNumberIsNone) {
    Question question("ab");
    question.options.top = 9;
    question.add({0, NAN, 0.5f}, {0, 1, 1});
    EXPECT_EQ(shown(question.finish()), Texts{"1-2 500"});
    Question empty("");
    empty.add({0.5f}, {0.5f});
    EXPECT_EQ(shown(empty.finish()), Texts{});
    add_answers(empty.options, 0, empty.answers.data(), 8, empty.state);  // nor has it a first token
    EXPECT_EQ(shown(empty.finish()), Texts{});
}

}  // namespace
}  // namespace etch
