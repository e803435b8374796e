// SPDX-License-Identifier: Apache-2.0
// The one generated model that this program was built for. model.cpp is the only file that sees its header; everything
// else works with the task and the sizes at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "etch/chat.hpp"
#include "etch/decode/answers.hpp"
#include "etch/decode/candidates.hpp"
#include "etch/decode/generation.hpp"
#include "etch/decode/score.hpp"
#include "etch/decode/tags.hpp"
#include "etch/decode/token_weights.hpp"
#include "etch/executor.hpp"
#include "etch/prompts.hpp"
#include "etch/side.hpp"
#include "etch/status.hpp"
#include "etch/task.hpp"
#include "etch/tokenizer.hpp"

namespace etch::cli {

struct Device;
struct TaskFace;

struct Model {
    std::string_view program;  // its own name, for messages
    std::string_view name;
    std::string_view recipe;
    std::string_view checkpoint;  // sha256, hex
    std::uint32_t max_tokens;
    std::uint32_t width;        // labels, values, components of the embedding, candidates of a mask
    bool pairs;                 // two texts at once
    std::size_t table_bytes;    // weights and tokenizer tables
    std::size_t arena_bytes;    // of one workspace
    std::size_t stack_budget;   // bytes
    std::size_t scratch_bytes;  // of each worker of an executor but the first
    const TaskFace& face;       // of its task: others are not linked
    const Device* cuda;         // null where built without ETCH_CUDA
    std::uint32_t beams;        // of a generative model, 1 where it does not search
    Prompts prompts;            // of a model that embeds
    const Chat* chat;           // of a model that goes on with conversations, else null
};

extern const Model kModel;

// Floats of a row of outputs: Model::width, or that of the chosen head.
std::uint32_t output_width();

// Name of a label or of a value; empty for a component of an embedding. Of a tagger entities follow the labels. Of
// several heads their names, or what the chosen one has. Any bytes, not always UTF-8.
std::string_view label(std::uint32_t index);

// Of a model that tells whether a text follows another: what the label column of a table calls it.
constexpr std::string_view next_sentence_name(std::uint32_t index) {
    return index == 0 ? "next" : "random";
}

// One text, or two where `pair`.
struct Text {
    std::string_view first;
    std::string_view second;
    bool pair = false;
};

// Of a generative model.
struct WrittenText {
    std::string text;
    float score;
    Ended ended;  // why there is no more of it
};

// Of a call that is timed: tokens that are written, and when the first ones were there. A search has all at its end.
struct TokenTimes {
    std::uint32_t count = 0;
    std::uint32_t first_count = 0;
    std::uint64_t until_first = 0;  // ns from the call's begin
};

// Of a head of several: floats of a row, and their names as label() has those of a model of one.
struct HeadOutputs {
    std::uint32_t width;
    std::string_view (*name)(std::uint32_t index);
};

struct HeadAnswer;

// Views of the answer to the last call, valid until the next.
struct Answer {
    const float* values;   // [width]: the labels' probabilities, the values, or the embedding; of a tagger and of
                           // the last window of a context [tokens][width], null in a batch
    const float* logits;   // [width] of a classifier, else null
    std::uint32_t label;   // of a classifier: index of the largest logit
    std::uint32_t tokens;  // specials included
    bool truncated;
    const TagSpan* spans = nullptr;  // [span_count], of a tagger
    std::uint32_t span_count = 0;
    const TokenOffset* offsets = nullptr;   // [tokens], of a tagger; null in a batch
    const Candidate* candidates = nullptr;  // [mask_count][width], of a model that fills masks
    std::uint32_t mask_count = 0;
    const TokenWeight* weights = nullptr;  // [weight_count], largest first, of a model that embeds sparsely
    std::uint32_t weight_count = 0;
    const AnswerSpan* answers = nullptr;  // [answer_count], best first, of a model that answers questions
    std::uint32_t answer_count = 0;
    const Score* score = nullptr;          // of a model that fills masks, where it is asked for
    std::uint32_t windows = 0;             // that the context was read in
    const WrittenText* written = nullptr;  // [written_count], the best first, at least one
    std::size_t written_count = 0;
    TokenTimes token_times = {};     // of a generative model, answer_tokens()
    std::uint32_t choice_count = 0;  // of a prompt: as many probabilities and logits, label is the best one; of labels
                                     // that the user gives: as many values
    const HeadOutputs* outputs = nullptr;  // of a head of several; else null
    const HeadAnswer* heads = nullptr;     // [head_count], of a model that has several; null where the one that answers
                                           // questions is asked
    std::uint32_t head_count = 0;
    const float* vectors = nullptr;  // [vector_count][width], of a model that gives tokens vectors; values are then
    std::uint32_t vector_count = 0;  // rows of all tokens, and
    const bool* kept = nullptr;      // [tokens] says which of them have a vector; null in a batch
};

struct HeadAnswer {
    std::string_view name;
    Task task;
    Answer answer;
};

// What is asked of models beside a text: of each task its own.
struct Wanted {
    Aggregation aggregation = Aggregation::simple;  // what the spans of a tagger are
    AnswerOptions answers = {};
    std::uint32_t beams = 0;                // of a search: 0 all that the model has
    std::uint32_t nbest = 1;                // of what it found so many
    std::uint32_t max_length = 0;           // tokens that are written: 0 as many as the model may write
    std::optional<float> temperature = {};  // of tokens that are drawn: what the model says but for these
    std::optional<std::uint32_t> top_k = {};
    std::optional<float> top_p = {};
    std::optional<std::uint64_t> seed = {};
    void (*stream)(std::string_view) = nullptr;  // takes whole characters of a text as they are written
    std::vector<std::string_view> labels = {};   // that a text may have; what stands around one in its hypothesis,
    std::string_view before = "This example is ";
    std::string_view after = ".";
    bool multi_label = false;                // and whether each is judged by itself
    bool score = false;                      // how likely a text is, in place of its masks
    std::optional<std::uint32_t> head = {};  // of several heads the only one that is asked
    Side side = Side::document;              // what a text is, of a model that reads queries otherwise,
    bool as_written = false;                 // and whether it comes with its prompt
};

struct Tokens {
    const std::int32_t* ids;     // [count]
    const TokenOffset* offsets;  // [count]
    std::uint32_t count;
    bool truncated;
    bool cut_word;
};

// Of a model that has several heads: every answer from now on is that of the one at this place of them, as if the model
// had no other.
void choose_head(std::uint32_t place, const HeadOutputs& outputs);

Status answer_text(const Text& text, Answer& answer);

// The same to several texts, none of them a pair: each thread of the executor takes a part of them, in batches. The
// views are valid until the next call. Where one is refused, `answers` is empty.
Status answer_batch(const std::vector<std::string_view>& texts, std::vector<Answer>& answers);

Status answer_tokens(const std::int32_t* ids, std::uint32_t count, Answer& answer);
Status encode(const Text& text, Tokens& tokens);

// Writes as much of a token's text as has room; the size of all of it, 0 where the id has none.
std::size_t copy_piece(std::int32_t id, char* text, std::size_t room);

// That text, kept: the model searches for it once.
std::string_view piece(std::int32_t id);

// How "[SEP]" and the like in a text are read from now on.
void set_special_tokens(SpecialTokens reading);

// What every answer is from now on.
void set_wanted(const Wanted& wanted);

// Shares the work of every call from now on; the executor stays the caller's. Null: the calling thread does it all.
void set_executor(const Executor* executor);

// Every answer comes from this device from now on; it is open.
void set_device(const Device& device);

Status select_kernel(std::string_view name);

// Name of the kernel set in use; the best one if none was selected.
std::string_view kernel();

// Names, best first; empty past the last.
std::string_view usable_kernel(std::size_t index);

// Checks every table and recomputes the model's golden texts.
Status self_test();

}  // namespace etch::cli
