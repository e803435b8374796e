// SPDX-License-Identifier: Apache-2.0
// The default mode: every text gets its line of output, in order.
#include <algorithm>
#include <cstdio>

#include "answers.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "input.hpp"
#include "model.hpp"
#include "output.hpp"

namespace etch::cli {
namespace {

void print_answer(const Options& options, const Text& text, const std::string& where) {
    bool truncated = false;
    Status status = Status::ok;
    std::string line;
    if (options.tokens) {
        Tokens tokens = {};
        status = encode(text, tokens);
        if (status == Status::ok) {
            line = tokens_as_json(tokens);
            truncated = tokens.truncated;
        }
    } else {
        Answer answer = {};
        status = answer_text(text, answer);
        if (status == Status::ok) {
            line = options.json ? answer_as_json(answer) : answer_as_text(answer, options.top);
            truncated = answer.truncated;
        }
    }
    if (status != Status::ok) {
        fail(kRunFailure, "%s: %s", where.c_str(), describe(status));
    }
    write_output(line);
    if (truncated) {
        std::fprintf(stderr, "text cut to %u tokens\n", static_cast<unsigned>(kModel.max_tokens));
    }
}

Text split_pair(std::string_view line, const std::string& where) {
    const std::size_t tab = line.find('\t');
    const auto tabs = std::count(line.begin(), line.end(), '\t');
    if (tabs != 1) {
        fail(kRunFailure, "%s: a pair is two texts with exactly one TAB between them, found %lld", where.c_str(),
             static_cast<long long>(tabs));
    }
    return {line.substr(0, tab), line.substr(tab + 1), true};
}

void answer_lines(const Options& options) {
    InputFile file(options.file.value_or("-"));
    if (file.is_terminal()) {
        std::fprintf(stderr, "%s: reading %s from the terminal, one a line; Ctrl-D ends\n",
                     std::string(kModel.program).c_str(), options.pair_lines ? "pairs (A<TAB>B)" : "texts");
    }
    LineReader lines(file);
    std::string_view line;
    while (lines.next(line)) {
        const std::string where = file.name() + format(": line %zu", lines.line_number());
        print_answer(options, options.pair_lines ? split_pair(line, where) : Text{line, {}, false}, where);
    }
}

}  // namespace

void answer_texts(const Options& options) {
    for (const std::string_view text : options.texts) {
        print_answer(options, {text, {}, false}, "text " + quoted(text));
    }
    for (const TextPair& pair : options.pairs) {
        print_answer(options, {pair.first, pair.second, true}, "pair " + quoted(pair.first));
    }
    if (options.texts.empty() && options.pairs.empty()) {
        answer_lines(options);
    }
}

}  // namespace etch::cli
