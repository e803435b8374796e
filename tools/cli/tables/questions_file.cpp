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
    std::string_view json = {};  // what is read: the whole file, or
    std::size_t line = 1;        // this line of it
    std::vector<AskedQuestion> questions = {};

    bool is_full() const { return questions.size() >= options.limit; }

    [[noreturn]] void refuse(std::size_t at, const std::string& problem) const {
        const auto before = json.substr(0, at);
        const auto ends = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
        fail(kRunFailure, "%s: line %zu: %s", name.c_str(), line + ends, problem.c_str());
    }

    JsonValue parse() const {
        JsonValue value;
        std::size_t at = 0;
        if (!parse_json(json, value, at)) {
            refuse(at, "no JSON");
        }
        return value;
    }

    const JsonValue& member(const JsonValue& value, const char* key, Kind kind) const {
        const JsonValue* const found = value.find(key);
        if (found == nullptr || found->kind != kind) {
            const char* const expected = kind == Kind::text ? "text" : "list";
            refuse((found == nullptr ? value : *found).at,
                   std::string("expected an object with the ") + expected + " '" + key + "'");
        }
        return *found;
    }

    void read_squad() {
        const JsonValue root = parse();
        for (const JsonValue& article : member(root, "data", Kind::list).items) {
            for (const JsonValue& paragraph : member(article, "paragraphs", Kind::list).items) {
                const std::string& context = member(paragraph, "context", Kind::text).text;
                for (const JsonValue& asked : member(paragraph, "qas", Kind::list).items) {
                    if (is_full()) {
                        return;
                    }
                    AskedQuestion question = {member(asked, "question", Kind::text).text, context, {}};
                    for (const JsonValue& answer : member(asked, "answers", Kind::list).items) {
                        question.answers.push_back(member(answer, "text", Kind::text).text);
                    }
                    questions.push_back(std::move(question));
                }
            }
        }
    }

    void read_line() {
        const JsonValue row = parse();
        AskedQuestion question = {
            member(row, "question", Kind::text).text, member(row, "context", Kind::text).text, {}};
        if (row.find("all_answers") != nullptr) {
            for (const JsonValue& answer : member(row, "all_answers", Kind::list).items) {
                if (answer.kind != Kind::text) {
                    refuse(answer.at, "'all_answers' are no texts");
                }
                question.answers.push_back(answer.text);
            }
        } else if (row.find("answer") != nullptr) {
            question.answers.push_back(member(row, "answer", Kind::text).text);
        }
        questions.push_back(std::move(question));
    }
};

}  // namespace

std::vector<AskedQuestion> read_questions(const Options& options) {
    const std::string_view path = options.table;
    const std::string_view ending = path.substr(std::min(path.size(), path.rfind('.')));
    if (ending != ".json" && ending != ".jsonl") {
        fail(kWrongUse, "--evaluate: expected a file named .json or .jsonl, got %s", quoted(path).c_str());
    }
    const std::string bytes = read_file(path);
    Reader reader = {options, quoted(path)};
    if (ending == ".json") {
        reader.json = bytes;
        reader.read_squad();
    } else {
        std::string_view rest = bytes;
        for (; !rest.empty() && !reader.is_full(); ++reader.line) {
            reader.json = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(reader.json.size() + 1, rest.size()));
            if (reader.json.find_first_not_of(" \t\r") != std::string_view::npos) {
                reader.read_line();
            }
        }
    }
    if (reader.questions.empty()) {
        fail(kRunFailure, "%s: no questions", reader.name.c_str());
    }
    return std::move(reader.questions);
}

}  // namespace etch::cli
