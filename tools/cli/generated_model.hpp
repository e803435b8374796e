// SPDX-License-Identifier: Apache-2.0
// What a generated model says of itself. Included behind its header, `generated`, and that of its task.
#pragma once

#include "model.hpp"

// Only tasks that write texts have more.
#ifndef ETCH_MODEL_BEAMS
#define ETCH_MODEL_BEAMS 1
#endif

// Only those that embed.
#ifndef ETCH_MODEL_PROMPTS
#define ETCH_MODEL_PROMPTS \
    {}
#endif

// Only those that go on with texts.
#ifndef ETCH_MODEL_CHAT
#define ETCH_MODEL_CHAT nullptr
#endif

namespace etch::cli {

constexpr Model generated_model(std::string_view program, const TaskFace& face, const Device* cuda) {
    return {program,
            generated::kModelName,
            generated::kRecipe,
            generated::kCheckpoint,
            generated::kMaxTokens,
            task::kWidth,
            generated::kPairs,
            generated::kTableBytes,
            generated::kArenaBytes,
            generated::kStackBudget,
            generated::kScratchBytes,
            face,
            cuda,
            ETCH_MODEL_BEAMS,
            ETCH_MODEL_PROMPTS,
            ETCH_MODEL_CHAT};
}

}  // namespace etch::cli
