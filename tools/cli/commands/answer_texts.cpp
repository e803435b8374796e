// SPDX-License-Identifier: Apache-2.0
// The default mode: every text gets its line of output, in order.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "../answers.hpp"
#include "../chat.hpp"
#include "../failure.hpp"
#include "../input.hpp"
#include "../model.hpp"
#include "../output.hpp"
#include "../prompts.hpp"
#include "../task_face.hpp"
#include "../text/format.hpp"
#include "commands.hpp"

namespace etch::cli {
namespace {

constexpr std::size_t kMostTexts = 256;  // answered together; their answers are in memory until they are printed

void print_answer(const Options& options, const Text& text, const Answer& answer) {
    write_output(options.json ? answer_as_json(options, text, answer) : kModel.face.as_text(options, text, answer));
}

// Of a conversation the end would be cut, which asks for the answer.
void say_cut(const Options& options, const std::string& where) {
    if (options.chat) {
        fail(kRunFailure, "%s: the message, with what the chat has around it, has more than %u tokens", where.c_str(),
             static_cast<unsigned>(kModel.max_tokens));
    }
    const std::string what = format(kModel.face.cut, static_cast<unsigned>(kModel.max_tokens));
    std::fprintf(stderr, "%s: %s: %s", std::string(kModel.program).c_str(), where.c_str(), what.c_str());
}

// As the model reads it; `written` keeps what that is.
Text as_read(const Options& options, const Text& text, std::string& written) {
    if (options.chat) {
        written = chat_of(options, {text.first});
        return {written, {}, false};
    }
    if (text.pair || prompt_of(options).empty()) {
        return text;
    }
    written = behind(prompt_of(options), text.first);
    return {written, {}, false};
}

void answer_one(const Options& options, const Text& text, const std::string& where) {
    Tokens tokens = {};
    Answer answer = {};
    std::string written;
    const Text read = as_read(options, text, written);
    const Status status = options.tokens ? encode(read, tokens) : answer_text(read, answer);
    if (status != Status::ok) {
        fail(kRunFailure, "%s: %s", where.c_str(), describe(status));
    }
    if (options.tokens) {
        write_output(tokens_as_json(tokens));
    } else {
        print_answer(options, text, answer);
    }
    if (options.tokens ? tokens.truncated : answer.truncated) {
        say_cut(options, where);
    }
}

void answer_together(const Options& options, const std::vector<std::string_view>& texts, std::vector<Answer>& answers) {
    std::vector<std::string> written(texts.size());
    std::vector<std::string_view> read;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        read.push_back(as_read(options, {texts[i], {}, false}, written[i]).first);
    }
    answer_batch(read, answers);
}

Text split_pair(std::string_view line, const std::string& where) {
    const std::size_t tab = line.find('\t');
    const auto tabs = std::count(line.begin(), line.end(), '\t');
    const bool choices = kModel.face.row == RowTexts::choices;
    if (choices ? tabs == 0 : tabs != 1) {
        fail(kRunFailure, "%s: %s, found %lld", where.c_str(),
             choices ? "a TAB stands before each choice" : "a pair is two texts with exactly one TAB between them",
             static_cast<long long>(tabs));
    }
    return {line.substr(0, tab), line.substr(tab + 1), true};
}

void answer_lines(const Options& options) {
    InputFile file(options.file.value_or("-"));
    if (file.is_terminal()) {
        std::fprintf(stderr, "%s: reading %s from the terminal, one a line; Ctrl-D ends\n",
                     std::string(kModel.program).c_str(),
                     options.pair_lines ? "pairs, a TAB between the texts" : "texts");
    }
    LineReader lines(file);
    const bool together = !options.tokens && !options.pair_lines && !options.probabilities && !options.logits &&
                          !options.rows && options.wanted.stream == nullptr;
    std::vector<std::string_view> texts;
    std::vector<Answer> answers;
    std::string_view line;
    while (lines.next(line)) {
        // As many lines as are here already: nobody who waits for an answer before the next one waits in vain.
        texts = {line};
        while (together && texts.size() < kMostTexts && lines.has_line() && lines.next(line)) {
            texts.push_back(line);
        }
        answers.clear();
        if (texts.size() > 1) {
            answer_together(options, texts, answers);
        }
        const auto place_of = [&](std::size_t i) {
            return file.name() + format(": line %zu", lines.line_number() + 1 + i - texts.size());
        };
        for (std::size_t i = 0; i < answers.size(); ++i) {
            print_answer(options, {texts[i], {}, false}, answers[i]);
            if (answers[i].truncated) {
                say_cut(options, place_of(i));
            }
        }
        if (!answers.empty()) {
            continue;
        }
        for (std::size_t i = 0; i < texts.size(); ++i) {  // one after the other, up to the one that is refused if any
            const std::string where = place_of(i);
            answer_one(options, options.pair_lines ? split_pair(texts[i], where) : Text{texts[i], {}, false}, where);
        }
    }
}

}  // namespace

void answer_texts(const Options& options) {
    if (options.turns) {
        converse(options);
        return;
    }
    if (options.question) {
        const std::string context(options.context ? *options.context : read_file(*options.context_file));
        answer_one(options, {*options.question, context, true}, "question " + quoted(*options.question));
        return;
    }
    if (options.prompt) {
        std::string choices(options.texts[0]);
        for (std::size_t i = 1; i < options.texts.size(); ++i) {
            choices += '\t';
            choices += options.texts[i];
        }
        answer_one(options, {*options.prompt, choices, true}, "prompt " + quoted(*options.prompt));
        return;
    }
    for (const std::string_view text : options.texts) {
        answer_one(options, {text, {}, false}, "text " + quoted(text));
    }
    for (const TextPair& pair : options.pairs) {
        answer_one(options, {pair.first, pair.second, true}, "pair " + quoted(pair.first));
    }
    if (options.texts.empty() && options.pairs.empty()) {
        answer_lines(options);
    }
}

}  // namespace etch::cli
