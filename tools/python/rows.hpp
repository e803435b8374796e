// SPDX-License-Identifier: Apache-2.0
// Calls of a model that answers a text, or a pair, with a row: classify, embed, regress, tag. Included by sessions.cpp
// only, after the generated header.
#pragma once

#include <algorithm>

#include "model.hpp"
#include "task_face.hpp"
#include "texts.hpp"

#include ETCH_TASK_HEADER

namespace etch::shared {

namespace generated = cli::generated;
namespace task = cli::task;

constexpr std::size_t kChunk = 32;  // texts that a worker takes at a time
constexpr bool kTags = generated::kTask == Task::tagging;

// Where answers go; what the model's task has not is not written and may be null.
struct Outputs {
    float* values;              // [count][width]: probabilities, values or embeddings
    float* logits;              // the same of a classifier
    std::int32_t* labels;       // [count]
    std::int32_t* tokens;       // [count]
    std::uint8_t* truncated;    // [count]
    TagSpan* spans;             // [count][kMaxTokens], of a tagger
    std::int32_t* span_counts;  // [count]
    std::int32_t aggregation;   // an Aggregation: what its spans are
};

struct Worker {
    generated::Workspace workspace;
    std::string_view texts[kChunk];
    generated::Result results[kChunk];
};

inline void write(const Outputs& out, std::size_t index, const cli::Answer& answer) {
    if constexpr (kTags) {
        out.span_counts[index] = static_cast<std::int32_t>(answer.span_count);
    } else {
        std::copy_n(answer.values, task::kWidth, out.values + index * task::kWidth);
    }
    if (out.logits != nullptr && answer.logits != nullptr) {
        std::copy_n(answer.logits, task::kWidth, out.logits + index * task::kWidth);
    }
    if (out.labels != nullptr) {
        out.labels[index] = static_cast<std::int32_t>(answer.label);
    }
    out.tokens[index] = static_cast<std::int32_t>(answer.tokens);
    out.truncated[index] = answer.truncated ? 1 : 0;
}

// Where the result of the text `index` has its spans.
template <class Result>
void place(Result& result, std::size_t index, const Outputs& out) {
    if constexpr (kTags) {
        result.spans = out.spans + index * generated::kMaxTokens;
        result.capacity = generated::kMaxTokens;
        result.aggregation = static_cast<Aggregation>(out.aggregation);
    }
}

// Answers the texts [begin, begin + size) of a call, at most kChunk; `second` is null where there are no pairs.
inline Status answer(Worker& worker, std::uint32_t, const Texts& first, const Texts* second, std::size_t begin,
                     std::size_t size, const Outputs& out) {
    for (std::size_t i = 0; i < size; ++i) {
        worker.texts[i] = first[begin + i];
        place(worker.results[i], begin + i, out);
    }
    Status status = Status::ok;
    if (second == nullptr) {
        status = task::answer_batch(worker.workspace, worker.texts, size, worker.results);
    } else {
        for (std::size_t i = 0; i < size && status == Status::ok; ++i) {
            const cli::Text pair = {worker.texts[i], (*second)[begin + i], true};
            status = task::answer(worker.workspace, pair, worker.results[i]);
        }
    }
    for (std::size_t i = 0; i < size && status == Status::ok; ++i) {
        write(out, begin + i, task::view(worker.results[i]));
    }
    return status;
}

}  // namespace etch::shared
