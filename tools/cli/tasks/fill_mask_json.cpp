// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../answers.hpp"
#include "../text/json.hpp"

namespace etch::cli {

std::uint32_t candidates_shown(const Options& options, const Answer& answer) {
    return std::min(options.top.value_or(kTop), width_of(answer));
}

void append_masks(std::string& out, const Options& options, const Text&, const Answer& answer) {
    if (answer.score != nullptr) {
        append_key(out, "score");
        append_json(out, answer.score->log_probability);
        append_key(out, "scored");
        append_json(out, std::int64_t{answer.score->scored});
        return;
    }
    append_key(out, "masks");
    append_json_array(out, answer.mask_count, [&](std::uint32_t mask) {
        const Candidate* const row = answer.candidates + std::size_t{mask} * width_of(answer);
        append_json_array(out, candidates_shown(options, answer), [&](std::uint32_t i) {
            out += "{\"token\": ";
            append_json(out, piece(row[i].id));
            out += ", \"id\": ";
            append_json(out, std::int64_t{row[i].id});
            out += ", \"probability\": ";
            append_json(out, row[i].probability);
            out += '}';
        });
    });
}

}  // namespace etch::cli
