// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "../answers.hpp"
#include "../text/json.hpp"

namespace etch::cli {

namespace {

constexpr float kPresent = 0.5F;  // probability from which on a label of several counts as given

void append_best_label(std::string& out, const Answer& answer) {
    append_key(out, "label");
    append_json(out, name_in(answer, answer.label));
    append_key(out, "probability");
    append_json(out, answer.values[answer.label]);
}

}  // namespace

std::vector<std::uint32_t> present_labels(const Answer& answer) {
    std::vector<std::uint32_t> present;
    for (std::uint32_t i = 0; i < width_of(answer); ++i) {
        if (answer.values[i] >= kPresent) {
            present.push_back(i);
        }
    }
    return present;
}

void append_label(std::string& out, const Options&, const Text&, const Answer& answer) {
    append_best_label(out, answer);
    append_floats(out, "logits", answer, answer.logits);
}

void append_label_set(std::string& out, const Options&, const Text&, const Answer& answer) {
    append_best_label(out, answer);
    append_key(out, "labels");
    const std::vector<std::uint32_t> present = present_labels(answer);
    append_json_array(out, static_cast<std::uint32_t>(present.size()),
                      [&](std::uint32_t i) { append_json(out, name_in(answer, present[i])); });
    append_floats(out, "probabilities", answer, answer.values);
    append_floats(out, "logits", answer, answer.logits);
}

}  // namespace etch::cli
