// SPDX-License-Identifier: Apache-2.0
// The lines that use a model that chooses.
#include "choices.hpp"

namespace firmware {

etch::Status begin_choices(Session& session, const Fields& fields) {
    return model::begin_choose(session.workspace, fields.text, fields.choices, fields.count, fields.scores);
}

etch::Status step_choices(Session& session, model::Choice& choice) {
    return model::step_choose(session.workspace, session.budget, choice);
}

}  // namespace firmware
