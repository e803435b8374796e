// SPDX-License-Identifier: Apache-2.0
// Answers to a question: spans of a context of any length, as the question-answering pipeline of `transformers` 4 finds
// them (QuestionAnsweringPipeline: preprocess, select_starts_ends, decode_spans, postprocess).
//
// A context that does not fit beside the question is read in windows that overlap. Of each window the rows of logits,
// one for an answer that begins at a token and one for an answer that ends there, become probabilities over its tokens
// of the context and the first special token, which stands for "no answer". A span's score is the product of the two of
// its ends; the best of all windows are put together by their texts.
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"
#include "etch/tokenizer.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct AnswerSpan {
    float score;  // of an answer that several windows or spans give: the sum
    std::uint32_t
        begin;  // bytes [begin, end) of the context, none for "no answer"; of token ids, the numbers of tokens
    std::uint32_t end;
};

// What is wanted. All 0: what the pipeline does when it is asked for nothing else.
struct AnswerOptions {
    std::uint32_t top;      // so many answers; 0: 1
    std::uint32_t window;   // tokens of a window, specials included; 0: 384, or as many as the model takes
    std::uint32_t stride;   // tokens that two windows share; 0: 128, or half a window
    std::uint32_t longest;  // tokens of an answer; 0: 15
    bool no_answer;         // "no answer" is one, too: the least of its scores in all windows
    bool by_tokens;         // an answer ends where tokens do, else where words do
};

// A question that is being answered. Of the arrays the ones with a place per token lie behind it: see QuestionMemory.
struct QuestionState {
    std::string_view question;
    std::string_view context;
    TokenStream stream;            // the context's tokens from where the window at hand begins
    std::int32_t* question_ids;    // [question_count]
    float* starts;                 // [max_tokens] logits, then probabilities
    float* ends;                   // [max_tokens]
    std::uint32_t question_count;  // tokens of the question that are read
    std::uint32_t room;            // for tokens of the context
    std::uint32_t advance;         // from one window to the next
    std::uint32_t first;           // row of the window's first token of the context
    std::uint32_t count;           // of them
    std::uint32_t windows;         // so far
    std::uint32_t tokens;          // of all windows
    std::uint32_t found;           // answers that are there
    float no_answer;               // the least score so far
    bool of_texts;                 // of question and context, else of one text or of token ids
    bool cut;                      // the question was too long
};

template <std::uint32_t kMaxTokens, std::uint32_t kMostPieces>
struct QuestionMemory {
    static constexpr std::uint32_t kPending = kMaxTokens + kMostPieces + 1;

    QuestionState state;
    std::int32_t question_ids[kMaxTokens];
    float starts[kMaxTokens];
    float ends[kMaxTokens];
    std::int32_t ids[kPending];
    TokenOffset offsets[kPending];
    std::uint8_t begins[kPending];

    // A question that nothing is known of yet.
    QuestionState& begin() noexcept {
        state = {};
        state.stream.ids = ids;
        state.stream.offsets = offsets;
        state.stream.begins = begins;
        state.stream.capacity = kPending;
        state.question_ids = question_ids;
        state.starts = starts;
        state.ends = ends;
        return state;
    }
};

// --- windows

// What a call and a step need of a model to read the next window.
struct WindowSink {
    std::int32_t* ids;       // [max_tokens]
    std::uint8_t* segments;  // [max_tokens]
    std::uint32_t max_tokens;
    void* scratch;  // of the tokenizer; nothing else is there while a question is being answered
};

// Tokens of a window, specials included, that `options` mean; at least two have room beside the specials.
std::uint32_t window_tokens(const AnswerOptions& options, const Template& parts, std::uint32_t max_tokens) noexcept;

// Tokens that two windows with this room for texts share, fewer than there is room for.
std::uint32_t shared_tokens(const AnswerOptions& options, std::uint32_t window, std::uint32_t room) noexcept;

// Special tokens of a pair.
constexpr std::uint32_t specials_of_pair(const Template& parts) noexcept {
    return parts.pair_count - 2;
}

// Sets room and advance; a question that leaves no window for a context that needs several is cut.
void plan_windows(const AnswerOptions& options, const Template& parts, std::uint32_t max_tokens,
                  QuestionState& state) noexcept;

// Writes the ids and segments of the window at hand and counts it.
TextRows write_window(const Template& parts, QuestionState& state, const WindowSink& sink) noexcept;

// Where a window begins within a text, a byte-level tokenizer leaves its first token the space before it: the wheel
// trims offsets window by window.
void trim_first(const WordPiece& model, QuestionState& state) noexcept;
void trim_first(const ByteLevelBpe& model, QuestionState& state) noexcept;
void trim_first(const CharacterBpe& model, QuestionState& state) noexcept;
void trim_first(const Unigram& model, QuestionState& state) noexcept;
void trim_first(const Bytes& model, QuestionState& state) noexcept;
void trim_first(const CodePoints& model, QuestionState& state) noexcept;

// Reads the first window, or the next one: false where there is none. `state` has question and context.
template <class Tables>
bool next_window(const Tables& tables, SpecialTokens mode, const AnswerOptions& options, const WindowSink& sink,
                 QuestionState& state, TextRows& text) noexcept {
    TokenStream& stream = state.stream;
    if (state.windows == 0) {
        const std::uint32_t most = window_tokens(options, tables.parts, sink.max_tokens) -
                                   specials_of_pair(tables.parts);  // of both texts together
        open_stream(tables, state.question, mode, sink.scratch, stream);
        read_stream(tables, 0, most, stream);
        state.cut = stream.more;
        state.question_count = state.cut ? most : stream.count;
        for (std::uint32_t i = 0; i < state.question_count; ++i)
            state.question_ids[i] = stream.ids[i];
        open_stream(tables, state.context, mode, sink.scratch, stream);
        read_stream(tables, 0, most - state.question_count, stream);
        plan_windows(options, tables.parts, sink.max_tokens, state);
        read_stream(tables, 0, state.room, stream);
    } else {
        if (!stream.more) return false;
        read_stream(tables, state.advance, state.room, stream);
        trim_first(tables.model, state);
    }
    text = write_window(tables.parts, state, sink);
    return true;
}

// One window of token ids: the context lies between the last two of them that the template has; offsets are the tokens'
// own numbers.
void window_of_ids(const Template& parts, const std::int32_t* ids, std::uint32_t count, QuestionState& state) noexcept;

// --- spans

// Logits of a window, rows [tokens][2], -> state.starts and state.ends; returns how many each are, at most as many as
// the window has rows: those of the first special token, where the template begins with one and the context does not,
// and of the context.
std::uint32_t gather_ends(const Template& parts, const F32Rows& logits, QuestionState& state) noexcept;

// The same as probabilities: puts the window's best 2 * top + 10 spans (by tokens: top) to the answers that are there.
// One with the text of another, letters of either case, adds to its score; one for which there is no room takes the
// place of the worst, if it is better. `answers` is [capacity]; of equal scores the first wins.
void add_answers(const AnswerOptions& options, std::uint32_t count, AnswerSpan* answers, std::uint32_t capacity,
                 QuestionState& state) noexcept;

// Behind the last window: puts the best answers in front, best first, and returns their number, at most `top`.
std::uint32_t finish_answers(const AnswerOptions& options, AnswerSpan* answers, std::uint32_t capacity,
                             QuestionState& state) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
