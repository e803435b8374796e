// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../answers.hpp"
#include "../text/json.hpp"

namespace etch::cli {

void append_weights(std::string& out, const Options& options, const Text&, const Answer& answer) {
    append_key(out, "weights");
    append_json_array(out, std::min(options.top.value_or(UINT32_MAX), answer.weight_count), [&](std::uint32_t i) {
        out += "{\"token\": ";
        append_json(out, piece(answer.weights[i].id));
        out += ", \"id\": ";
        append_json(out, std::int64_t{answer.weights[i].id});
        out += ", \"weight\": ";
        append_json(out, answer.weights[i].weight);
        out += '}';
    });
}

}  // namespace etch::cli
