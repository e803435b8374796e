// SPDX-License-Identifier: Apache-2.0
// How a model that writes a text for a text is called. Included by model.cpp only, after the generated header.
#pragma once

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

// The texts of as many results; those of the last call are gone.
struct Texts {
    static constexpr std::size_t kLongestPiece = 1024;  // bytes: longer ones are refused when the model is generated
    static constexpr std::size_t kEach = std::size_t{generated::kMaxTarget} * (kLongestPiece + 1) + 64;

    std::vector<std::string> all;
    const generated::Result* first = nullptr;

    std::string& of(const generated::Result& result) { return all[static_cast<std::size_t>(&result - first)]; }
};
inline Texts texts;

inline void make_room(generated::Result* results, std::size_t count, const Wanted&) {
    texts.all.assign(count, {});
    texts.first = results;
}

// Nobody takes two.
inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    if (text.pair) {
        return Status::pair_not_supported;
    }
    std::string room(Texts::kEach, '\0');
    const Status status = generated::translate(workspace, text.first, room.data(), room.size(), result);
    texts.of(result).assign(room, 0, status == Status::ok ? result.bytes : 0);
    return status;
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return one_by_one(answer, workspace, texts, count, results);
}

// For its time: what is written stays ids.
inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    std::vector<std::int32_t> target(kWidth);
    return generated::translate_tokens(workspace, ids, count, target.data(), kWidth, result);
}

inline Answer view(const generated::Result& result) {
    Answer answer = {nullptr, nullptr, 0, result.tokens, result.truncated};
    answer.written = texts.of(result);
    answer.score = result.score;
    answer.ended = result.ended;
    return answer;
}

}  // namespace etch::cli::task
