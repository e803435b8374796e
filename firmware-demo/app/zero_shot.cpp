// SPDX-License-Identifier: Apache-2.0
// The lines that use a model that takes labels at run time. One of them holds; a single one is judged by itself.
#include "choices.hpp"

namespace firmware {

etch::Status begin_choices(Session& session, const Fields& fields) {
    return model::begin_zero_shot(session.workspace, fields.text, fields.choices, fields.count, {}, false,
                                  fields.scores);
}

etch::Status step_choices(Session& session, model::Choice& choice) {
    return model::step_zero_shot(session.workspace, session.budget, choice);
}

}  // namespace firmware
