// SPDX-License-Identifier: Apache-2.0
#include "questions_file.hpp"

#include <algorithm>

#include "../failure.hpp"
#include "../input.hpp"
#include "../text/json_value.hpp"

namespace etch::cli {
namespace {

using Kind = JsonValue::Kind;

struct Reader {
    const Options& options;
    std::string name;
    std::vector<AskedQuestion> questions = {};

    bool is_full() const { return questions.size() >= options.limit; }

    [[noreturn]] void refuse(std::size_t line, const char* problem) const {
        fail(kRunFailure, "%s: line %zu: %s", name.c_str(), line, problem);
    }

    const JsonValue& member(const JsonValue& value, const char* key, Kind kind, std::size_t line) const {
        const JsonValue* const found = value.find(key);
        if (found == nullptr || found->kind != kind) {
            fail(kRunFailure, "%s: line %zu: expected an object with the %s '%s'", name.c_str(), line,
                 kind == Kind::text ? "text" : "list", key);
        }
        return *found;
    }

    void read_squad(const JsonValue& root) {
        for (const JsonValue& article : member(root, "data", Kind::list, 1).items) {
            for (const JsonValue& paragraph : member(article, "paragraphs", Kind::list, 1).items) {
                const std::string& context = member(paragraph, "context", Kind::text, 1).text;
                for (const JsonValue& asked : member(paragraph, "qas", Kind::list, 1).items) {
                    if (is_full()) {
                        return;
                    }
                    AskedQuestion question = {member(asked, "question", Kind::text, 1).text, context, {}};
                    for (const JsonValue& answer : member(asked, "answers", Kind::list, 1).items) {
                        question.answers.push_back(member(answer, "text", Kind::text, 1).text);
                    }
                    questions.push_back(std::move(question));
                }
            }
        }
    }

    void read_line(const JsonValue& row, std::size_t line) {
        AskedQuestion question = {
            member(row, "question", Kind::text, line).text, member(row, "context", Kind::text, line).text, {}};
        if (row.find("all_answers") != nullptr) {
            for (const JsonValue& answer : member(row, "all_answers", Kind::list, line).items) {
                if (answer.kind != Kind::text) {
                    refuse(line, "'all_answers' are no texts");
                }
                question.answers.push_back(answer.text);
            }
        } else if (row.find("answer") != nullptr) {
            question.answers.push_back(member(row, "answer", Kind::text, line).text);
        }
        questions.push_back(std::move(question));
    }
};

std::size_t line_of(std::string_view bytes, std::size_t at) {
    return 1 +
           static_cast<std::size_t>(std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace

std::vector<AskedQuestion> read_questions(const Options& options) {
    const std::string_view path = options.table;
    const std::string_view ending = path.substr(std::min(path.size(), path.rfind('.')));
    if (ending != ".json" && ending != ".jsonl") {
        fail(kWrongUse, "--evaluate: expected a file named .json or .jsonl, got %s", quoted(path).c_str());
    }
    const std::string bytes = read_file(path);
    Reader reader = {options, quoted(path)};
    std::size_t at = 0;
    if (ending == ".json") {
        JsonValue root;
        if (!parse_json(bytes, root, at)) {
            reader.refuse(line_of(bytes, at), "no JSON");
        }
        reader.read_squad(root);
    } else {
        std::string_view rest = bytes;
        for (std::size_t line = 1; !rest.empty() && !reader.is_full(); ++line) {
            const std::string_view row = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(row.size() + 1, rest.size()));
            if (row.find_first_not_of(" \t\r") == std::string_view::npos) {
                continue;
            }
            JsonValue value;
            if (!parse_json(row, value, at)) {
                reader.refuse(line, "no JSON");
            }
            reader.read_line(value, line);
        }
    }
    if (reader.questions.empty()) {
        fail(kRunFailure, "%s: no questions", reader.name.c_str());
    }
    return std::move(reader.questions);
}

}  // namespace etch::cli
