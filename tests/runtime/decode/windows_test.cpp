// SPDX-License-Identifier: Apache-2.0
// How a context is read in windows: sizes by hand, and their tokens against those of the whole context, tokenized at
// once; the windows of the `tokenizers` wheel are compared with whole models
// (tests/end_to_end/tasks/test_answer_programs.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "etch/decode/answers.hpp"
#include "tokenizer/test_vocabulary.hpp"

namespace etch {
namespace {

using test_vocabulary::kUncased;

constexpr std::uint32_t kMaxTokens = 24;
const Template& kParts = kUncased.parts;  // [CLS] question [SEP] context [SEP]
constexpr std::uint32_t kSpecials = 3;

AnswerOptions windows_of(std::uint32_t window, std::uint32_t stride) {
    AnswerOptions options{};
    options.window = window;
    options.stride = stride;
    return options;
}

TEST(Windows, AreAsLongAsWantedOrAsTheModelTakes) {
    EXPECT_EQ(window_tokens({}, kParts, 512), 384u);
    EXPECT_EQ(window_tokens({}, kParts, 100), 100u);
    EXPECT_EQ(window_tokens(windows_of(50, 0), kParts, 100), 50u);
    EXPECT_EQ(window_tokens(windows_of(101, 0), kParts, 100), 100u);
    EXPECT_EQ(window_tokens(windows_of(4, 0), kParts, 100), kSpecials + 2);
}

TEST(Windows, ShareLessThanThereIsRoomFor) {
    EXPECT_EQ(shared_tokens({}, 384, 300), 128u);
    EXPECT_EQ(shared_tokens({}, 100, 90), 50u);
    EXPECT_EQ(shared_tokens({}, 384, 100), 99u);
    EXPECT_EQ(shared_tokens(windows_of(0, 7), 384, 100), 7u);
    EXPECT_EQ(shared_tokens(windows_of(0, 100), 384, 100), 99u);
}

struct Planned {
    std::uint32_t question;
    std::uint32_t room;
    std::uint32_t advance;
    bool cut;

    bool operator==(const Planned& other) const {
        return question == other.question && room == other.room && advance == other.advance && cut == other.cut;
    }
};

// Of a window of 20 tokens, 17 for texts, that shares 5 with the next one.
Planned planned(std::uint32_t question, std::uint32_t context, bool more = false, bool cut = false) {
    QuestionState state{};
    state.question_count = question;
    state.stream.count = context;
    state.stream.more = more;
    state.cut = cut;
    plan_windows(windows_of(20, 5), kParts, kMaxTokens, state);
    return {state.question_count, state.room, state.advance, state.cut};
}

TEST(Windows, OneHoldsWhatFits) {
    EXPECT_EQ(planned(4, 13), (Planned{4, 13, 13, false}));
    EXPECT_EQ(planned(4, 14), (Planned{4, 13, 8, false}));
    EXPECT_EQ(planned(4, 13, true), (Planned{4, 13, 8, false}));
}

TEST(Windows, AQuestionThatLeavesNoneIsCut) {
    EXPECT_EQ(planned(12, 5), (Planned{12, 5, 5, false}));  // one window needs nothing to go on
    EXPECT_EQ(planned(11, 7), (Planned{11, 6, 1, false}));
    EXPECT_EQ(planned(12, 6), (Planned{11, 6, 1, true}));
    EXPECT_EQ(planned(17, 0, false, true), (Planned{11, 6, 1, true}));
    EXPECT_EQ(planned(4, 2, false, true), (Planned{4, 13, 8, true}));
}

// All windows of a question and a context.
struct Reading {
    Reading(const std::string& question, const std::string& context, AnswerOptions options,
            SpecialTokens mode = SpecialTokens::recognized) {
        const auto memory = std::make_unique<QuestionMemory<kMaxTokens, 64>>();
        QuestionState& state = memory->begin();
        state.question = question;
        state.context = context;
        std::vector<std::uint64_t> scratch((tokenizer_scratch_bytes(kUncased) + 7) / 8);
        std::int32_t ids[kMaxTokens];
        std::uint8_t segments[kMaxTokens];
        const WindowSink sink{ids, segments, kMaxTokens, scratch.data()};
        TextRows text{};
        while (next_window(kUncased, mode, options, sink, state, text)) {
            windows.emplace_back(ids, ids + text.count);
            of_second.emplace_back(segments, segments + text.count);
            offsets.emplace_back(state.stream.offsets, state.stream.offsets + state.count);
            firsts.push_back(state.first);
        }
        cut = state.cut;
        counted = state.windows;
        tokens = state.tokens;
        question_count = state.question_count;
    }

    std::vector<std::vector<std::int32_t>> windows;
    std::vector<std::vector<int>> of_second;
    std::vector<std::vector<TokenOffset>> offsets;
    std::vector<std::uint32_t> firsts;
    std::uint32_t counted = 0;
    std::uint32_t tokens = 0;
    std::uint32_t question_count = 0;
    bool cut = false;
};

// Tokens of a text without specials.
struct Whole {
    explicit Whole(const std::string& text) : ids(text.size() + 8), offsets(ids.size()) {
        std::vector<std::uint64_t> scratch((tokenizer_scratch_bytes(kUncased) + 7) / 8);
        std::vector<std::uint8_t> segments(ids.size());
        Tokenized result{};
        const TokenSink sink{ids.data(), segments.data(), offsets.data(), static_cast<std::uint32_t>(ids.size())};
        EXPECT_EQ(tokenize(kUncased, text, SpecialTokens::recognized, scratch.data(), sink, result), Status::ok);
        ids = {ids.begin() + 1, ids.begin() + result.count - 1};
        offsets = {offsets.begin() + 1, offsets.begin() + result.count - 1};
    }

    std::vector<std::int32_t> ids;
    std::vector<TokenOffset> offsets;
};

std::string letters(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += std::string(1, static_cast<char>('a' + i * 7 % 26)) + (i % 5 == 3 ? "b " : " ");
    return text;
}

TEST(Windows, HaveTheTokensOfTheWholeContext) {
    const Whole question("a b?");
    for (const std::uint32_t window : {0u, 24u, 15u, 10u}) {
        for (const std::uint32_t stride : {0u, 1u, 3u, 100u}) {
            for (const std::size_t words : {0u, 1u, 9u, 17u, 60u}) {
                const std::string context = letters(words);
                const Whole whole(context);
                const Reading read("a b?", context, windows_of(window, stride));
                std::size_t begin = 0;
                std::size_t end = 0;
                std::uint32_t tokens = 0;
                for (std::size_t i = 0; i < read.windows.size(); ++i) {
                    const std::vector<std::int32_t>& ids = read.windows[i];
                    const std::size_t count = read.offsets[i].size();
                    ASSERT_LE(begin + count, whole.ids.size());
                    std::vector<std::int32_t> expected = {kParts.pair[0].id};
                    expected.insert(expected.end(), question.ids.begin(), question.ids.begin() + read.question_count);
                    expected.push_back(kParts.pair[2].id);
                    EXPECT_EQ(read.firsts[i], expected.size());
                    const auto from = whole.ids.begin() + static_cast<std::ptrdiff_t>(begin);
                    expected.insert(expected.end(), from, from + static_cast<std::ptrdiff_t>(count));
                    expected.push_back(kParts.pair[4].id);
                    EXPECT_EQ(ids, expected) << window << ' ' << stride << ' ' << words << ' ' << i;
                    std::vector<int> segments(ids.size(), 0);
                    std::fill(segments.begin() + read.firsts[i], segments.end(), 1);
                    EXPECT_EQ(read.of_second[i], segments);
                    for (std::size_t token = 0; token < count; ++token) {
                        EXPECT_EQ(read.offsets[i][token].begin, whole.offsets[begin + token].begin);
                        EXPECT_EQ(read.offsets[i][token].end, whole.offsets[begin + token].end);
                    }
                    ASSERT_LE(begin, end);  // nothing is left out
                    end = begin + count;
                    const std::uint32_t most =
                        window_tokens(windows_of(window, stride), kParts, kMaxTokens) - kSpecials;
                    const std::uint32_t room = most - read.question_count;
                    begin += room - shared_tokens(windows_of(window, stride), most + kSpecials, most);
                    tokens += static_cast<std::uint32_t>(ids.size());
                }
                EXPECT_EQ(end, whole.ids.size());
                EXPECT_EQ(read.counted, read.windows.size());
                EXPECT_EQ(read.tokens, tokens);
                EXPECT_EQ(read.cut, read.question_count < question.ids.size());
            }
        }
    }
}

TEST(Windows, OfAQuestionThatIsTooLong) {
    const Reading read(letters(200), "a", windows_of(10, 2));
    EXPECT_TRUE(read.cut);
    EXPECT_EQ(read.windows.size(), 1u);
    EXPECT_EQ(read.question_count, 4u);  // 7 for texts, 2 that are shared, one to go on
    EXPECT_EQ(read.offsets[0].size(), 1u);
}

TEST(Windows, TheFirstTokenKeepsItsSpaceWhereTheWheelTrimsWindowByWindow) {
    ByteLevelBpe model{};
    QuestionMemory<4, 1> memory{};
    QuestionState& state = memory.begin();
    state.context = "ab c d";
    const auto trimmed = [&](bool trims, bool keeps, std::uint32_t count, std::uint8_t begins, std::uint32_t begin) {
        model.trim_offsets = trims;
        model.keep_first_space = keeps;
        state.stream.count = count;
        memory.begins[0] = begins;
        memory.offsets[0] = {begin, begin + 1};
        trim_first(model, state);
        return memory.offsets[0].begin;
    };
    EXPECT_EQ(trimmed(true, true, 1, 1, 3), 2u);
    EXPECT_EQ(trimmed(false, true, 1, 1, 3), 3u);
    EXPECT_EQ(trimmed(true, false, 1, 1, 3), 3u);
    EXPECT_EQ(trimmed(true, true, 0, 1, 3), 3u);
    EXPECT_EQ(trimmed(true, true, 1, 0, 3), 3u);
    EXPECT_EQ(trimmed(true, true, 1, 1, 0), 0u);
    EXPECT_EQ(trimmed(true, true, 1, 1, 1), 1u);  // behind a letter
    memory.offsets[0] = {3, 4};
    trim_first(Unigram{}, state);
    trim_first(CharacterBpe{}, state);
    trim_first(Bytes{}, state);
    trim_first(CodePoints{}, state);
    EXPECT_EQ(memory.offsets[0].begin, 3u);
}

TEST(Windows, OfTokenIdsTheContextLiesBetweenTheLastSpecials) {
    QuestionMemory<16, 1> memory{};
    QuestionState& state = memory.begin();
    const auto found = [&](const std::vector<std::int32_t>& ids) {
        window_of_ids(kParts, ids.data(), static_cast<std::uint32_t>(ids.size()), state);
        EXPECT_EQ(state.windows, 1u);
        EXPECT_EQ(state.tokens, ids.size());
        return std::pair(state.first, state.count);
    };
    EXPECT_EQ(found({2, 50, 3, 51, 52, 53, 3}), std::pair(3u, 3u));
    EXPECT_EQ(memory.offsets[2].begin, 5u);
    EXPECT_EQ(memory.offsets[2].end, 6u);
    EXPECT_EQ(memory.begins[2], 1);
    EXPECT_EQ(found({2, 50, 3, 51, 52}), std::pair(3u, 2u));
    EXPECT_EQ(found({50, 51}), std::pair(0u, 2u));
    EXPECT_EQ(found({2, 3}), std::pair(1u, 0u));
    EXPECT_EQ(found({}), std::pair(0u, 0u));
}

}  // namespace
}  // namespace etch
