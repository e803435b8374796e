// SPDX-License-Identifier: Apache-2.0
// How a model with several heads is called. Included by model.cpp only, after the generated header.
#pragma once

#include <deque>
#include <vector>

#include "../one_by_one.hpp"
#include "answer_room.hpp"

namespace etch::cli {
extern const TaskFace kAnalyzeFace;
}

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kHeadCount;
inline constexpr const TaskFace& kFace = kAnalyzeFace;

// The heads': those of a text, then the one that answers questions.
inline std::string_view name(std::uint32_t index) {
    std::string_view found;
    std::uint32_t at = 0;
    static generated::Result any;
    const auto look = [&](std::string_view name) {
        if (at++ == index) {
            found = name;
        }
    };
    generated::each_head(any, [&](auto head, auto&) { look(decltype(head)::kName); });
    generated::question_head([&](auto head) { look(decltype(head)::kName); });
    return found;
}

// What the results of the last calls point to, and their answers.
struct Rooms {
    const generated::Result* first = nullptr;
    std::deque<std::vector<TagSpan>> spans;
    std::deque<std::vector<Candidate>> candidates;
    std::vector<std::vector<HeadAnswer>> answers;
    bool is_question = false;  // the head that answers questions is asked, and no other
};
inline Rooms rooms;

// Of the head that answers questions, the i-th for the i-th result.
template <class Head>
std::vector<typename Head::Result> question_results;

// use(Description{}, the result) of it.
template <class Use>
void with_question(const generated::Result& result, const Use& use) {
    const auto place = static_cast<std::size_t>(&result - rooms.first);
    generated::question_head([&](auto head) { use(head, question_results<decltype(head)>[place]); });
}

inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    rooms = {};
    rooms.first = results;
    rooms.answers.resize(count);
    generated::question_head([&](auto head) {
        rooms.is_question = wanted.head == kWidth - 1;
        auto& of_question = question_results<decltype(head)>;
        of_question.resize(rooms.is_question ? count : 0);
        give_answer_room(of_question.data(), of_question.size(), wanted.answers);
    });
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        generated::each_head(results[i], [&](auto head, auto& part) {
            if constexpr (decltype(head)::kTask == Task::tagging) {
                part.spans = rooms.spans.emplace_back(generated::kMaxTokens).data();
                part.capacity = generated::kMaxTokens;
                part.aggregation = wanted.aggregation;
            }
            if constexpr (decltype(head)::kTask == Task::fill_mask) {
                part.top = decltype(head)::kWidth / 2;
                part.candidates = rooms.candidates.emplace_back(std::size_t{generated::kMaxTokens} * part.top).data();
                part.capacity = generated::kMaxTokens;
            }
        });
    }
}

inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    if (rooms.is_question) {
        Status status = Status::ok;
        with_question(result, [&](auto head, auto& asked) {
            using Head = decltype(head);
            status = text.pair ? Head::kAnswer(workspace, text.first, text.second, asked)
                               : Head::kAnswerText(workspace, text.first, asked);
        });
        return status;
    }
    return text.pair ? generated::analyze_pair(workspace, text.first, text.second, result)
                     : generated::analyze(workspace, text.first, result);
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return rooms.is_question ? one_by_one(answer, workspace, texts, count, results)
                             : generated::analyze_batch(workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    if (rooms.is_question) {
        Status status = Status::ok;
        with_question(result, [&](auto head, auto& asked) {
            status = decltype(head)::kAnswerTokens(workspace, ids, nullptr, count, asked);
        });
        return status;
    }
    return generated::analyze_tokens(workspace, ids, nullptr, count, result);
}

inline std::string_view no_name(std::uint32_t) {
    return {};
}

// Of one head: its part of a result, as the program of a model of its own would see it.
template <class Head, class Part>
Answer view_of(const Part& part) {
    constexpr Task kTask = Head::kTask;
    constexpr bool kHasCandidates = kTask == Task::fill_mask;
    static constexpr HeadOutputs kOutputs = {kHasCandidates ? Head::kWidth / 2 : Head::kWidth,
                                             kTask == Task::next_sentence ? next_sentence_name : Head::name};
    Answer answer = {nullptr, nullptr, 0, part.tokens, part.truncated};
    if constexpr (kTask == Task::single_label || kTask == Task::multi_label) {
        answer = {part.probability, part.logits, part.label, part.tokens, part.truncated};
    } else if constexpr (kTask == Task::regression) {
        answer.values = part.value;
    } else if constexpr (kTask == Task::embedding) {
        answer.values = part.embedding;
    } else if constexpr (kTask == Task::next_sentence) {
        answer = {&part.probability, part.logits, part.logits[1] > part.logits[0] ? 1U : 0U, part.tokens,
                  part.truncated};
    } else if constexpr (kTask == Task::tagging) {
        answer = {part.probability, nullptr, 0, part.tokens, part.truncated, part.spans, part.count, part.offsets};
    } else {
        static_assert(kHasCandidates, "a head of a task that this program does not know");
        answer.candidates = part.candidates;
        answer.mask_count = part.count;
    }
    answer.outputs = &kOutputs;
    return answer;
}

// Where the head that answers questions is asked: its answer, as that of a model of its own.
inline Answer view(const generated::Result& result) {
    if (rooms.is_question) {
        Answer answer = {};
        with_question(result, [&](auto head, const auto& asked) {
            static constexpr HeadOutputs kOutputs = {decltype(head)::kWidth, no_name};
            answer = view_of_answers(asked);
            answer.outputs = &kOutputs;
        });
        return answer;
    }
    std::vector<HeadAnswer>& heads = rooms.answers[static_cast<std::size_t>(&result - rooms.first)];
    heads.clear();
    generated::each_head(result, [&](auto head, const auto& part) {
        using Head = decltype(head);
        heads.push_back({Head::kName, Head::kTask, view_of<Head>(part)});
    });
    Answer answer = {nullptr, nullptr, 0, result.tokens, result.truncated};
    answer.heads = heads.data();
    answer.head_count = static_cast<std::uint32_t>(heads.size());
    return answer;
}

}  // namespace etch::cli::task
