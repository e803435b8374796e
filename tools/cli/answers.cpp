// SPDX-License-Identifier: Apache-2.0
#include "answers.hpp"

#include <algorithm>
#include <numeric>

#include "json.hpp"
#include "output.hpp"
#include "utf8.hpp"

namespace etch::cli {

std::string answer_as_json(const Answer& answer) {
    std::string out = "{\"label\": ";
    append_json(out, label(answer.label));
    out += ", \"probability\": ";
    append_json(out, answer.probability[answer.label]);
    out += ", \"logits\": ";
    append_json_array(out, kModel.label_count, [&](std::uint32_t i) { append_json(out, answer.logits[i]); });
    out += ", \"tokens\": ";
    append_json(out, std::int64_t{answer.tokens});
    out += ", \"truncated\": ";
    append_json(out, answer.truncated);
    out += "}\n";
    return out;
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

std::string answer_as_text(const Answer& answer, std::uint32_t top) {
    std::vector<std::uint32_t> order(kModel.label_count);
    std::iota(order.begin(), order.end(), 0U);
    const std::uint32_t shown = std::min(top, kModel.label_count);
    std::partial_sort(order.begin(), order.begin() + shown, order.end(), [&](std::uint32_t a, std::uint32_t b) {
        // By logits: two probabilities may round to the same float.
        return answer.logits[a] != answer.logits[b] ? answer.logits[a] > answer.logits[b] : a < b;
    });
    std::string out;
    for (std::uint32_t i = 0; i < shown; ++i) {
        out += i == 0 ? "" : "\t";
        append_printable(out, label(order[i]));
        out += format("\t%.4f", static_cast<double>(answer.probability[order[i]]));
    }
    out += '\n';
    return out;
}

}  // namespace etch::cli
