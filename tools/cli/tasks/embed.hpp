// SPDX-License-Identifier: Apache-2.0
// How a model that embeds is called. Included by model.cpp only, after the generated header.
#pragma once

namespace etch::cli {
extern const TaskFace kEmbedFace;
}

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kEmbeddingWidth;
inline constexpr const TaskFace& kFace = kEmbedFace;
#define ETCH_MODEL_PROMPTS generated::kPrompts
inline constexpr AppendFields* kAppendFields = append_embedding;

inline std::string_view name(std::uint32_t) {
    return {};  // the components of an embedding have no names
}

// A result needs no room of its own.
inline void make_room(generated::Result*, std::size_t, const Wanted&) {}

inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    return text.pair ? generated::embed_pair(workspace, text.first, text.second, result)
                     : generated::embed(workspace, text.first, result);
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return generated::embed_batch(workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::embed_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    return {result.embedding, nullptr, 0, result.tokens, result.truncated};
}

}  // namespace etch::cli::task
