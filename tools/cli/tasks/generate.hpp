// SPDX-License-Identifier: Apache-2.0
// How a model that writes what goes on with a text is called. Included by model.cpp only, after the generated header.
#pragma once

#include "write_faces.hpp"

namespace etch::cli::task {
inline constexpr const TaskFace& kFace = kGenerateFace;
inline constexpr auto* write_text = generated::generate;
inline constexpr auto* write_texts = generated::generate_batch;
}  // namespace etch::cli::task

#define ETCH_MODEL_CHAT (generated::kChat.exists() ? &generated::kChat : nullptr)

#include "written.hpp"
