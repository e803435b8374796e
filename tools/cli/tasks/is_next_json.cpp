// SPDX-License-Identifier: Apache-2.0
// Whether a text follows another one, in JSON.
#include <string>

#include "../answers.hpp"
#include "../task_face.hpp"
#include "../text/json.hpp"

namespace etch::cli {

void append_next_sentence(std::string& out, const Options&, const Text&, const Answer& answer) {
    append_key(out, "probability");
    append_json(out, answer.values[0]);
    append_floats(out, "logits", answer, answer.logits);
}

}  // namespace etch::cli
