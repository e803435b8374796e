// SPDX-License-Identifier: Apache-2.0
// How a generative model is called, whatever its functions are named: `write_text`, `write_texts` and the face are
// declared before this is included, as task:: of model.cpp.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../one_by_one.hpp"
#include "etch/hosted.hpp"

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kMaxTarget;

inline std::string_view name(std::uint32_t) {
    return {};
}

#define ETCH_MODEL_BEAMS generated::kBeams

// The texts of as many results; those of the last call are gone.
struct Texts {
    static constexpr std::size_t kLongestPiece = 1024;  // bytes: longer ones are refused when the model is generated
    static constexpr std::size_t kEach = std::size_t{generated::kMaxTarget} * (kLongestPiece + 1) + 64;

    std::vector<std::vector<WrittenText>> all;
    const generated::Result* first = nullptr;
    std::uint32_t before = 0;  // texts of earlier calls: each draws tokens of its own
    TokenTimes times;
    Wanted wanted;

    std::size_t number_of(const generated::Result& result) const { return static_cast<std::size_t>(&result - first); }
    std::vector<WrittenText>& of(const generated::Result& result) { return all[number_of(result)]; }
};
inline Texts texts;

inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    texts.before += static_cast<std::uint32_t>(texts.all.size());
    texts.all.assign(count, {});
    texts.first = results;
    texts.wanted = wanted;
}

// How the tokens of a text are drawn: as the model does, but for what is asked; at 1 where it does not.
inline Sampling sampling_of(const generated::Result& result) {
    const Wanted& wanted = texts.wanted;
    Sampling sampling = generated::kSampling;
    const bool asked = wanted.top_k || wanted.top_p || wanted.seed;
    if (asked && sampling.temperature == 0.0f) {
        sampling.temperature = 1.0f;
    }
    sampling.seed = wanted.seed.value_or(0);
    sampling.text = texts.before + static_cast<std::uint32_t>(texts.number_of(result));
    sampling.temperature = wanted.temperature.value_or(sampling.temperature);
    sampling.top_k = wanted.top_k.value_or(sampling.top_k);
    sampling.top_p = wanted.top_p.value_or(sampling.top_p);
    return sampling;
}

// Of a call, which takes a copy.
inline void set_up(generated::Workspace& workspace, const Sampling& sampling) {
    workspace.beams = static_cast<std::uint8_t>(texts.wanted.beams);
    workspace.max_target = texts.wanted.max_length;
    workspace.sampling = &sampling;
}

// What a search found behind the best: a model that does none has no function for it.
template <class Workspace>
void add_others(Workspace& workspace, std::string& room, std::vector<WrittenText>& to) {
    if constexpr (generated::kBeams > 1) {
        generated::Result other;
        for (std::uint32_t rank = 1;
             rank < texts.wanted.nbest && found(workspace, rank, room.data(), room.size(), other) == Status::ok;
             ++rank) {
            to.push_back({room.substr(0, other.bytes), other.score, other.ended});
        }
    }
}

// What write_text() writes, each piece handed over as soon as it is there.
inline Status write_pieces(generated::Workspace& workspace, std::string_view text, std::string& room,
                           generated::Result& result) {
    Status status = generated::begin(workspace, text);
    if (status != Status::ok) {
        return status;
    }
    std::size_t shown = 0;
    do {
        status = generated::next(workspace, room.data(), room.size(), result);
        if (status == Status::ok || status == Status::in_progress) {
            texts.wanted.stream(std::string_view(room).substr(shown, result.bytes - shown));
            shown = result.bytes;
        }
    } while (status == Status::in_progress);
    return status;
}

// Nobody takes two.
inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    if (text.pair) {
        return Status::pair_not_supported;
    }
    const Sampling sampling = sampling_of(result);
    set_up(workspace, sampling);
    std::string room(Texts::kEach, '\0');
    const Status status = texts.wanted.stream != nullptr
                              ? write_pieces(workspace, text.first, room, result)
                              : write_text(workspace, text.first, room.data(), room.size(), result);
    if (status == Status::ok) {
        texts.of(result) = {{room.substr(0, result.bytes), result.score, result.ended}};
        add_others(workspace, room, texts.of(result));
    }
    workspace.sampling = nullptr;
    return status;
}

// As many at a time as share passes: there is room for these only.
inline Status answer_batch(generated::Workspace& workspace, const std::string_view* lines, std::size_t count,
                           generated::Result* results) {
    constexpr std::size_t kMost = generated::kBeams;
    if (kMost == 1 || texts.wanted.nbest > 1) {
        return one_by_one(answer, workspace, lines, count, results);
    }
    std::string room(kMost * Texts::kEach, '\0');
    for (std::size_t first = 0; first < count; first += kMost) {
        const std::size_t some = std::min(kMost, count - first);
        generated::Result* const of_some = results + first;
        const Sampling sampling = sampling_of(*of_some);
        set_up(workspace, sampling);
        const Status status = write_texts(workspace, lines + first, some, room.data(), Texts::kEach, of_some);
        workspace.sampling = nullptr;
        if (status != Status::ok) {
            return status;
        }
        for (std::size_t i = 0; i < some; ++i) {
            const generated::Result& one = of_some[i];
            texts.of(one) = {{room.substr(i * Texts::kEach, one.bytes), one.score, one.ended}};
        }
    }
    return Status::ok;
}

// For its time, token by token: what is written stays ids.
inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    const Sampling sampling = sampling_of(result);
    set_up(workspace, sampling);
    std::vector<std::int32_t> target(kWidth);
    texts.times = {};
    const std::uint64_t begin = hosted::monotonic_nanoseconds();
    Status status = generated::begin_tokens(workspace, ids, count);
    workspace.sampling = nullptr;
    if (status != Status::ok) {
        return status;
    }
    do {
        status = generated::next_tokens(workspace, target.data(), kWidth, result);
        if (texts.times.first_count == 0) {
            texts.times = {0, result.count, hosted::monotonic_nanoseconds() - begin};
        }
    } while (status == Status::in_progress);
    texts.times.count = result.count;
    return status;
}

inline Answer view(const generated::Result& result) {
    Answer answer = {nullptr, nullptr, 0, result.tokens, result.truncated};
    answer.written = texts.of(result).data();
    answer.written_count = texts.of(result).size();
    answer.token_times = texts.times;
    return answer;
}

}  // namespace etch::cli::task
