// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <agnews_small.hpp>
#include <cstdint>
#include <string_view>

namespace firmware {

namespace model = etch::agnews_small;

// A build in steps: a text is computed in steps of this budget, and a watchdog waits for the main loop in between.
constexpr std::uint64_t kStepBudget = FIRMWARE_STEP_BUDGET;
constexpr bool kInSteps = kStepBudget > 0;
constexpr std::uint32_t kWatchdogMilliseconds = 100;

struct Steps {
    std::uint32_t count = 0;
    std::uint64_t longest = 0;   // in ticks
    std::uint32_t received = 0;  // bytes that came in between
};

// All that lasts from one line to the next.
struct Session {
    model::Workspace workspace;
    bool shows_logits = false;
    std::uint64_t last_ticks = 0;  // of the last text
    std::uint64_t budget = 0;      // of a step; main() sets it: all of this is zeros, so that none of it lies in flash
    bool computing = false;        // a text whose answer is still to come
    Steps steps;                   // of the last text
};

// Obeys a line that begins with '!' and answers with one line.
void obey(Session& session, std::string_view command);

}  // namespace firmware
