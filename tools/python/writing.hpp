// SPDX-License-Identifier: Apache-2.0
// Calls of a generative model: translate, summarize, generate. Included by sessions.cpp only, after the generated
// header.
#pragma once

#include "texts.hpp"

namespace etch::shared {

namespace generated = cli::generated;

constexpr std::size_t kChunk = generated::kBeams;  // texts that a worker takes at a time: as many as share passes

// Where texts go, and what is wanted.
struct Outputs {
    char* texts;               // [count][capacity]: UTF-8, no 0 behind it
    std::uint64_t capacity;    // bytes
    std::int32_t* bytes;       // [count]
    float* scores;             // [count]
    std::uint8_t* ended;       // [count]: an Ended
    std::int32_t* tokens;      // [count]: of the text that was read
    std::uint8_t* truncated;   // [count]: it was cut
    std::uint32_t max_target;  // as the workspace has them
    std::uint32_t beams;
    Sampling sampling;      // `text` is the number of the first text of the call
    std::uint32_t given;    // what of it counts beside that: the others are as the model has them
    std::uint32_t in_text;  // 1: texts have all the special tokens that they need
};

enum Given : std::uint32_t { kTemperature = 1, kTopK = 2, kTopP = 4, kSeed = 8 };

struct Worker {
    generated::Workspace workspace;
    std::string_view texts[kChunk];
    generated::Result results[kChunk];
};

// How tokens are drawn from the text `begin` of a call on; at temperature 1 where the model draws none but is asked to.
inline Sampling sampling_of(const Outputs& out, std::size_t begin) {
    Sampling sampling = generated::kSampling;
    if ((out.given & (kTopK | kTopP | kSeed)) != 0 && sampling.temperature == 0.0f) {
        sampling.temperature = 1.0f;
    }
    sampling.temperature = (out.given & kTemperature) != 0 ? out.sampling.temperature : sampling.temperature;
    sampling.top_k = (out.given & kTopK) != 0 ? out.sampling.top_k : sampling.top_k;
    sampling.top_p = (out.given & kTopP) != 0 ? out.sampling.top_p : sampling.top_p;
    sampling.seed = (out.given & kSeed) != 0 ? out.sampling.seed : 0;
    sampling.text = out.sampling.text + static_cast<std::uint32_t>(begin);
    return sampling;
}

inline Status answer(Worker& worker, std::uint32_t, const Texts& first, const Texts* second, std::size_t begin,
                     std::size_t size, const Outputs& out) {
    if (second != nullptr) {
        return Status::pair_not_supported;
    }
    for (std::size_t i = 0; i < size; ++i) {
        worker.texts[i] = first[begin + i];
    }
    const Sampling sampling = sampling_of(out, begin);
    const SpecialTokens usual = worker.workspace.special_tokens;
    worker.workspace.special_tokens = out.in_text != 0 ? SpecialTokens::in_text : usual;
    worker.workspace.max_target = out.max_target;
    worker.workspace.beams = static_cast<std::uint8_t>(out.beams);
    worker.workspace.sampling = &sampling;
    const Status status = generated::ETCH_BATCH(worker.workspace, worker.texts, size, out.texts + begin * out.capacity,
                                                out.capacity, worker.results);
    worker.workspace.sampling = nullptr;
    worker.workspace.special_tokens = usual;
    for (std::size_t i = 0; i < size && status == Status::ok; ++i) {
        const generated::Result& result = worker.results[i];
        out.bytes[begin + i] = static_cast<std::int32_t>(result.bytes);
        out.scores[begin + i] = result.score;
        out.ended[begin + i] = static_cast<std::uint8_t>(result.ended);
        out.tokens[begin + i] = static_cast<std::int32_t>(result.tokens);
        out.truncated[begin + i] = result.truncated ? 1 : 0;
    }
    return status;
}

}  // namespace etch::shared
