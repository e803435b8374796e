// SPDX-License-Identifier: Apache-2.0
#include "answers.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "json.hpp"
#include "output.hpp"
#include "utf8.hpp"

namespace etch::cli {

namespace {

constexpr float kPresent = 0.5F;  // probability from which on a label of several counts as given

void append_key(std::string& out, const char* name) {
    out += out.empty() ? "{\"" : ", \"";
    out += name;
    out += "\": ";
}

void append_floats(std::string& out, const char* name, const float* values) {
    append_key(out, name);
    append_json_array(out, kModel.width, [&](std::uint32_t i) { append_json(out, values[i]); });
}

void append_best_label(std::string& out, const Answer& answer) {
    append_key(out, "label");
    append_json(out, label(answer.label));
    append_key(out, "probability");
    append_json(out, answer.values[answer.label]);
}

void append_present_labels(std::string& out, const Answer& answer) {
    append_key(out, "labels");
    const std::vector<std::uint32_t> present = present_labels(answer);
    append_json_array(out, static_cast<std::uint32_t>(present.size()),
                      [&](std::uint32_t i) { append_json(out, label(present[i])); });
}

std::string labels_as_text(const Answer& answer, std::uint32_t top) {
    std::vector<std::uint32_t> order(kModel.width);
    std::iota(order.begin(), order.end(), 0U);
    const std::uint32_t shown = std::min(top, kModel.width);
    std::partial_sort(order.begin(), order.begin() + shown, order.end(), [&](std::uint32_t a, std::uint32_t b) {
        // By logits: two probabilities may round to the same float.
        return answer.logits[a] != answer.logits[b] ? answer.logits[a] > answer.logits[b] : a < b;
    });
    std::string out;
    for (std::uint32_t i = 0; i < shown; ++i) {
        out += i == 0 ? "" : "\t";
        append_printable(out, label(order[i]));
        out += format("\t%.4f", static_cast<double>(answer.values[order[i]]));
    }
    return out + '\n';
}

std::string values_as_text(const Answer& answer) {
    std::string out;
    for (std::uint32_t i = 0; i < kModel.width; ++i) {
        out += format(i == 0 ? "%.9g" : " %.9g", static_cast<double>(answer.values[i]));
    }
    return out + '\n';
}

}  // namespace

std::vector<std::uint32_t> present_labels(const Answer& answer) {
    std::vector<std::uint32_t> present;
    for (std::uint32_t i = 0; i < kModel.width; ++i) {
        if (answer.values[i] >= kPresent) {
            present.push_back(i);
        }
    }
    return present;
}

std::string answer_as_json(const Answer& answer) {
    std::string out;
    switch (kModel.task) {
        case Task::single_label:
            append_best_label(out, answer);
            append_floats(out, "logits", answer.logits);
            break;
        case Task::multi_label:
            append_best_label(out, answer);
            append_present_labels(out, answer);
            append_floats(out, "probabilities", answer.values);
            append_floats(out, "logits", answer.logits);
            break;
        case Task::regression:
            append_floats(out, "values", answer.values);
            break;
        case Task::embedding:
            append_floats(out, "embedding", answer.values);
            break;
    }
    append_key(out, "tokens");
    append_json(out, std::int64_t{answer.tokens});
    append_key(out, "truncated");
    append_json(out, answer.truncated);
    return out + "}\n";
}

std::string answer_as_text(const Answer& answer, std::uint32_t top) {
    return answer.logits != nullptr ? labels_as_text(answer, top) : values_as_text(answer);
}

std::string tokens_as_json(const Tokens& tokens) {
    std::string out = "{\"ids\": ";
    append_json_array(out, tokens.count, [&](std::uint32_t i) { append_json(out, std::int64_t{tokens.ids[i]}); });
    out += ", \"pieces\": ";
    append_json_array(out, tokens.count, [&](std::uint32_t i) { append_json(out, piece(tokens.ids[i])); });
    out += ", \"offsets\": ";
    append_json_array(out, tokens.count, [&](std::uint32_t i) {
        out += format("[%u, %u]", static_cast<unsigned>(tokens.offsets[i].begin),
                      static_cast<unsigned>(tokens.offsets[i].end));
    });
    out += ", \"truncated\": ";
    append_json(out, tokens.truncated);
    out += "}\n";
    return out;
}

}  // namespace etch::cli
