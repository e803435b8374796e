// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <firmware_model.hpp>
#include <string_view>

#include "etch/decode/tags.hpp"

namespace firmware {

// A build in steps: a text is computed in steps of this budget, and the main loop comes around in between; a watchdog
// waits for it where the build asked for steps. What a model writes, answers to questions, choices, pairs and several
// heads always are.
constexpr std::uint64_t kStepBudget = FIRMWARE_STEP_BUDGET;
constexpr bool kInSteps = kStepBudget > 0;

// What of an answer is shown to the bit where that is wanted.
constexpr std::string_view shown_by(etch::Task task) {
    switch (task) {
        case etch::Task::translation:
        case etch::Task::summarization:
        case etch::Task::generation:
            return "score";
        case etch::Task::tagging:
        case etch::Task::fill_mask:
        case etch::Task::answering:
        case etch::Task::multiple_choice:
        case etch::Task::zero_shot:
            return "scores";
        case etch::Task::embedding:
            return "values";
        case etch::Task::several:
            return "bits";
        default:
            return "logits";
    }
}
constexpr std::string_view kShown = shown_by(model::kTask);

// Whether "!aggregation" chooses what the spans of tags are.
constexpr bool kAggregates = model::kTask == etch::Task::tagging || model::kTask == etch::Task::several;

struct Steps {
    std::uint32_t count = 0;
    std::uint64_t longest = 0;   // in ticks
    std::uint32_t received = 0;  // bytes that came in between
};

// All that lasts from one line to the next.
struct Session {
    model::Workspace workspace;
    bool shows_bits = false;
    std::uint64_t last_ticks = 0;  // in the model, of the last text
    std::uint64_t budget = 0;      // of a step; main() sets it: all of this is zeros, so that none of it lies in flash
    etch::Aggregation aggregation{};  // of tags; main() sets it, too
    bool computing = false;           // a text whose answer is still to come
    Steps steps;                      // of the last text
};

// Obeys a line that begins with '!' and answers with one line.
void obey(Session& session, std::string_view command);

}  // namespace firmware
