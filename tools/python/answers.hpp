// SPDX-License-Identifier: Apache-2.0
// Calls of a model that answers questions: each is a text of `first`, its context one of `second`, which is there.
// Included by sessions.cpp only, after the generated header.
#pragma once

#include <algorithm>

#include "texts.hpp"

namespace etch::shared {

namespace generated = cli::generated;

constexpr std::size_t kChunk = 1;  // questions that a worker takes at a time: a context can be long

// Where answers go, and what is wanted.
struct Outputs {
    AnswerSpan* answers;      // [count][most], best first
    std::int32_t* counts;     // [count]
    std::int32_t* windows;    // [count]: that the context was read in
    std::int32_t* tokens;     // [count], of all windows
    std::uint8_t* truncated;  // [count]: the question was cut
    AnswerSpan* room;         // [threads][room_of_each], for the answers of all windows until they are put together
    std::uint32_t room_of_each;
    std::uint32_t most;  // answers of a question that are kept
    AnswerOptions options;
};

struct Worker {
    generated::Workspace workspace;
};

inline Status answer(Worker& worker, std::uint32_t index, const Texts& first, const Texts* second, std::size_t begin,
                     std::size_t size, const Outputs& out) {
    for (std::size_t i = begin; i < begin + size; ++i) {
        generated::Result result{};
        result.answers = out.room + std::size_t{index} * out.room_of_each;
        result.capacity = out.room_of_each;
        result.options = out.options;
        const Status status = generated::answer(worker.workspace, first[i], (*second)[i], result);
        if (status != Status::ok) {
            return status;
        }
        const std::uint32_t count = std::min(result.count, out.most);
        std::copy_n(result.answers, count, out.answers + i * out.most);
        out.counts[i] = static_cast<std::int32_t>(count);
        out.windows[i] = static_cast<std::int32_t>(result.windows);
        out.tokens[i] = static_cast<std::int32_t>(result.tokens);
        out.truncated[i] = result.truncated ? 1 : 0;
    }
    return Status::ok;
}

}  // namespace etch::shared
