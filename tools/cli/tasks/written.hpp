// SPDX-License-Identifier: Apache-2.0
// How a model that writes is called, whatever its functions are named: `write_text` and `write_tokens` are declared
// before this is included, as task:: of model.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../one_by_one.hpp"

namespace etch::cli {
extern const TaskFace kWriteFace;
}

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kMaxTarget;
inline constexpr const TaskFace& kFace = kWriteFace;

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
    Wanted wanted;

    std::vector<WrittenText>& of(const generated::Result& result) {
        return all[static_cast<std::size_t>(&result - first)];
    }
};
inline Texts texts;

inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    texts.all.assign(count, {});
    texts.first = results;
    texts.wanted = wanted;
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

// Nobody takes two.
inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    if (text.pair) {
        return Status::pair_not_supported;
    }
    workspace.beams = static_cast<std::uint8_t>(texts.wanted.beams);
    std::string room(Texts::kEach, '\0');
    const Status status = write_text(workspace, text.first, room.data(), room.size(), result);
    if (status == Status::ok) {
        texts.of(result) = {{room.substr(0, result.bytes), result.score, result.ended}};
        add_others(workspace, room, texts.of(result));
    }
    return status;
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return one_by_one(answer, workspace, texts, count, results);
}

// For its time: what is written stays ids.
inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    workspace.beams = static_cast<std::uint8_t>(texts.wanted.beams);
    std::vector<std::int32_t> target(kWidth);
    return write_tokens(workspace, ids, count, target.data(), kWidth, result);
}

inline Answer view(const generated::Result& result) {
    Answer answer = {nullptr, nullptr, 0, result.tokens, result.truncated};
    answer.written = texts.of(result).data();
    answer.written_count = texts.of(result).size();
    return answer;
}

}  // namespace etch::cli::task
