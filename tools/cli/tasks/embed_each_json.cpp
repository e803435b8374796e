// SPDX-License-Identifier: Apache-2.0
#include "../answers.hpp"
#include "../text/json.hpp"

namespace etch::cli {

void append_vectors(std::string& out, const Options& options, const Text&, const Answer& answer) {
    const std::uint32_t width = width_of(answer);
    append_key(out, "vectors");
    append_json_array(out, answer.vector_count, [&](std::uint32_t vector) {
        const float* const values = answer.vectors + std::size_t{vector} * width;
        append_json_array(out, width, [&](std::uint32_t i) { append_json(out, values[i]); });
    });
    if (options.rows) {
        append_rows(out, "rows", answer);
        append_key(out, "kept");
        append_json_array(out, answer.tokens, [&](std::uint32_t token) { append_json(out, answer.kept[token]); });
    }
}

}  // namespace etch::cli
