// SPDX-License-Identifier: Apache-2.0
// --similarity: the cosine of two texts' embeddings.
#include "compare_texts.hpp"

#include <cstdio>
#include <vector>

#include "commands.hpp"
#include "etch/similarity.hpp"
#include "failure.hpp"
#include "format.hpp"
#include "json.hpp"
#include "output.hpp"

namespace etch::cli {

Similarity compare(std::string_view first, std::string_view second, const std::string& where) {
    const auto embed = [&](std::string_view text) {
        Answer answer = {};
        const Status status = answer_text({text, {}, false}, answer);
        if (status != Status::ok) {
            fail(kRunFailure, "%s: %s", where.c_str(), describe(status));
        }
        return answer;
    };
    const Answer a = embed(first);
    const std::vector<float> kept(a.values, a.values + output_width());  // the next answer takes its place
    const Answer b = embed(second);
    return {cosine_similarity(kept.data(), b.values, output_width()), {a.tokens, b.tokens}, {a.truncated, b.truncated}};
}

void compare_texts(const Options& options) {
    for (const TextPair& pair : options.compared) {
        const Similarity found = compare(pair.first, pair.second, "texts of " + quoted(pair.first));
        if (options.json) {
            std::string line = "{\"similarity\": ";
            append_json(line, found.cosine);
            line += ", \"tokens\": ";
            append_json_array(line, 2, [&](std::uint32_t i) { append_json(line, std::int64_t{found.tokens[i]}); });
            line += ", \"truncated\": ";
            append_json_array(line, 2, [&](std::uint32_t i) { append_json(line, found.truncated[i]); });
            write_output(line + "}\n");
        } else {
            write_output(format("%.9g\n", static_cast<double>(found.cosine)));
        }
        for (std::size_t i = 0; i < 2; ++i) {
            if (found.truncated[i]) {
                std::fprintf(stderr, "%s: text %s: text cut to %u tokens\n", std::string(kModel.program).c_str(),
                             quoted(i == 0 ? pair.first : pair.second).c_str(),
                             static_cast<unsigned>(kModel.max_tokens));
            }
        }
    }
}

}  // namespace etch::cli
