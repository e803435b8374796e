// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "session.hpp"

namespace firmware {

// A line in its fields: they, and where the scores go, stay where they are until it is answered.
struct Fields {
    std::string_view text;  // a prompt, or what labels are asked of
    const std::string_view* choices;
    std::uint32_t count;
    float* scores;
};

// The model's own calls: choose.cpp or zero_shot.cpp.
etch::Status begin_choices(Session& session, const Fields& fields);
etch::Status step_choices(Session& session, model::Choice& choice);

}  // namespace firmware
