// SPDX-License-Identifier: Apache-2.0
// --similarity A B, as the task says it.
#include "compare_texts.hpp"

#include <cstdio>

#include "../failure.hpp"
#include "../output.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/json.hpp"
#include "commands.hpp"

namespace etch::cli {
namespace {

const Option kOptions[] = {
    {"--similarity", 2, kChoosesMode, Mode::similarity,
     [](Options& o, Values v) {
         o.compared.push_back({v[0], v[1]});
     }},
};

}  // namespace

const OptionGroup kSimilarityOptions(kOptions);

void check_one_by_one(const Options& options) {
    if (options.pair_lines && options.mode == Mode::evaluate) {
        fail(kWrongUse, "--pairs does not go with --evaluate here: the two texts of a row are embedded one by one");
    }
}

Answer answer_or_fail(std::string_view text, const std::string& where) {
    Answer answer = {};
    const Status status = answer_text({text, {}, false}, answer);
    if (status != Status::ok) {
        fail(kRunFailure, "%s: %s", where.c_str(), describe(status));
    }
    return answer;
}

void compare_texts(const Options& options) {
    for (const TextPair& pair : options.compared) {
        const Similarity found = kModel.face.compare(pair.first, pair.second, "texts of " + quoted(pair.first));
        if (options.json) {
            std::string line = "{\"similarity\": ";
            append_json(line, found.value);
            line += ", \"tokens\": ";
            append_json_array(line, 2, [&](std::uint32_t i) { append_json(line, std::int64_t{found.tokens[i]}); });
            line += ", \"truncated\": ";
            append_json_array(line, 2, [&](std::uint32_t i) { append_json(line, found.truncated[i]); });
            write_output(line + "}\n");
        } else {
            write_output(format("%.9g\n", static_cast<double>(found.value)));
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
