// SPDX-License-Identifier: Apache-2.0
// How a model that writes summaries is called. Included by model.cpp only, after the generated header.
#pragma once

#include "write_faces.hpp"

namespace etch::cli::task {
inline constexpr const TaskFace& kFace = kWriteFace;
inline constexpr auto* write_text = generated::summarize;
inline constexpr auto* write_texts = generated::summarize_batch;
}  // namespace etch::cli::task

#include "written.hpp"
