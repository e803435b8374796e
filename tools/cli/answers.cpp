// SPDX-License-Identifier: Apache-2.0
#include "answers.hpp"

#include <algorithm>
#include <numeric>

#include "task_face.hpp"
#include "text/format.hpp"
#include "text/json.hpp"
#include "text/utf8.hpp"

namespace etch::cli {

void append_key(std::string& out, const char* name) {
    out += out.empty() ? "{\"" : ", \"";
    out += name;
    out += "\": ";
}

std::uint32_t width_of(const Answer& answer) {
    return answer.outputs != nullptr ? answer.outputs->width : kModel.width;
}

std::string_view name_in(const Answer& answer, std::uint32_t index) {
    return answer.outputs != nullptr ? answer.outputs->name(index) : label(index);
}

void append_floats(std::string& out, const char* name, const Answer& answer, const float* values) {
    append_key(out, name);
    append_json_array(out, width_of(answer), [&](std::uint32_t i) { append_json(out, values[i]); });
}

void append_rows(std::string& out, const char* name, const Answer& answer) {
    const std::uint32_t width = width_of(answer);
    append_key(out, name);
    append_json_array(out, answer.tokens, [&](std::uint32_t token) {
        const float* row = answer.values + std::size_t{token} * width;
        append_json_array(out, width, [&](std::uint32_t i) { append_json(out, row[i]); });
    });
}

std::vector<std::uint32_t> best_first(const float* values, std::uint32_t count) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return values[a] > values[b]; });
    return order;
}

std::string values_as_text(const Answer& answer) {
    std::string out;
    for (std::uint32_t i = 0; i < width_of(answer); ++i) {
        out += format(i == 0 ? "%.9g" : " %.9g", static_cast<double>(answer.values[i]));
    }
    return out + '\n';
}

void append_place(std::string& out, const ScoredPlace& place) {
    out += ", \"score\": ";
    append_json(out, place.score);
    out += format(", \"start\": %u, \"end\": %u", static_cast<unsigned>(place.begin), static_cast<unsigned>(place.end));
}

void append_place_as_text(std::string& out, const ScoredPlace& place, std::string_view text) {
    append_printable(out, place.in(text));
    out += format("\t%.4f\t%u\t%u", static_cast<double>(place.score), static_cast<unsigned>(place.begin),
                  static_cast<unsigned>(place.end));
}

std::string answer_as_json(const Options& options, const Text& text, const Answer& answer) {
    std::string out;
    kModel.face.append_fields(out, options, text, answer);
    append_key(out, "tokens");
    append_json(out, std::int64_t{answer.tokens});
    append_key(out, "truncated");
    append_json(out, answer.truncated);
    return out + "}\n";
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
    out += ", \"cut_word\": ";
    append_json(out, tokens.cut_word);
    out += "}\n";
    return out;
}

}  // namespace etch::cli
