// SPDX-License-Identifier: Apache-2.0
// Answers to questions, as spans of a context. Evaluated: exact match and F1.
#include "../answers.hpp"
#include "../failure.hpp"
#include "../output.hpp"
#include "../scores/score_report.hpp"
#include "../scores/squad_scores.hpp"
#include "../tables/questions_file.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/json.hpp"

namespace etch::cli {
namespace {

constexpr const char* kQuestions = R"(
  --question Q         one question, with
  --context C          its context, of any length,
  --context-file F     or the context that is in file F
  --pair Q C           a question and its context; may be repeated
  --pairs              lines are Q<TAB>C
  --window N           tokens that are read at once (default 384, or as many as the model takes)
  --stride N           tokens that two windows of a long context share (default 128, or half a window)
  --longest N          tokens of an answer (default 15)
  --no-answer          "no answer" may be one
  --by-tokens          answers end where tokens do (default: where words do)
)";

constexpr const char* kOutput = R"(
                       text TAB score TAB begin TAB end, the next answers behind it; bytes of the context
  --top K              so many answers (default 1)
  --json               {"answers": [{"text", "score", "start", "end"}], "windows", "tokens", "truncated"}
  --logits             with --json: of one window {"logits"} of each token, for its beginning and its end; also of a
                       text alone, cut where it is too long
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.json|FILE.jsonl
  exact match and F1 as SQuAD's script has them. FILE is SQuAD's, or has an object a line: {"question", "context"} and
  the right answers, {"all_answers"} or {"answer"}; none, or empty ones, where there is no answer. At most 256 MiB.
  --json               {"exact_match", "f1", "questions", "windows", "truncated"}
)";

const Option kOptions[] = {
    {"--question", 1, kTexts, kNone, [](Options& o, Values v) { o.question = v[0]; }},
    {"--context", 1, kTexts, kNone, [](Options& o, Values v) { o.context = v[0]; }},
    {"--context-file", 1, kTexts, kNone, [](Options& o, Values v) { o.context_file = v[0]; }},
    {"--longest", 1, kTexts | kRows, kNone,
     [](Options& o, Values v) { o.wanted.answers.longest = number("--longest", v[0], 1, 1000000); }},
    {"--window", 1, kTexts | kRows, kNone,
     [](Options& o, Values v) { o.wanted.answers.window = number("--window", v[0], 8, kModel.max_tokens); }},
    {"--stride", 1, kTexts | kRows, kNone,
     [](Options& o, Values v) { o.wanted.answers.stride = number("--stride", v[0], 1, kModel.max_tokens); }},
    {"--no-answer", 0, kTexts | kRows, kNone, [](Options& o, Values) { o.wanted.answers.no_answer = true; }},
    {"--by-tokens", 0, kTexts | kRows, kNone, [](Options& o, Values) { o.wanted.answers.by_tokens = true; }},
    {"--logits", 0, kTexts, kNone, [](Options& o, Values) { o.logits = true; }},
    {"--top", 1, kTexts, kNone,
     [](Options& o, Values v) {
         o.top = number("--top", v[0], 1, 1000);
         o.wanted.answers.top = *o.top;
     }},
};
// A question and one context, and no other texts.
void check(const Options& options) {
    if (options.logits && !options.json) {
        fail(kWrongUse, "--logits only goes with --json");
    }
    if (options.context && options.context_file) {
        refuse_together("--context", "--context-file");
    }
    if (options.question.has_value() != (options.context || options.context_file)) {
        fail(kWrongUse, "%s",
             options.question ? "--question needs --context or --context-file"
                              : "--context and --context-file only go with --question");
    }
    if (options.question && (options.file || options.pair_lines || !options.pairs.empty() || !options.texts.empty())) {
        fail(kWrongUse, "--question takes no other texts");
    }
    const bool has_contexts = options.question || options.pair_lines || !options.pairs.empty();
    if (options.mode == Mode::texts && !has_contexts && !options.logits && !options.tokens) {
        fail(kWrongUse,
             "a question needs its context: --question Q with --context C or --context-file F, --pair Q C, "
             "or lines of both with --pairs");
    }
}

// text TAB score TAB begin TAB end of each answer, the next one behind it.
std::string as_text(const Options&, const Text& text, const Answer& answer) {
    std::string out;
    for (std::uint32_t i = 0; i < answer.answer_count; ++i) {
        const AnswerSpan& span = answer.answers[i];
        out += i == 0 ? "" : "\t";
        append_place_as_text(out, {span.begin, span.end, span.score}, context_of(text));
    }
    return out + '\n';
}

std::string described() {
    return {};
}

void evaluate_answers(const Options& options) {
    const std::vector<AskedQuestion> questions = read_questions(options);
    double exact = 0.0;
    double f1 = 0.0;
    std::uint64_t windows = 0;
    std::uint64_t cut = 0;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const AskedQuestion& asked = questions[i];
        Answer answer = {};
        if (const Status status = answer_text({asked.question, asked.context, true}, answer); status != Status::ok) {
            fail(kRunFailure, "%s: question %zu: %s", quoted(options.table).c_str(), i + 1, describe(status));
        }
        std::string_view text;
        if (answer.answer_count != 0) {
            const AnswerSpan& best = answer.answers[0];
            text = std::string_view(asked.context).substr(best.begin, best.end - best.begin);
        }
        const AnswerMeasures measures = measure_answer(text, asked.answers);
        exact += measures.exact;
        f1 += measures.f1;
        windows += answer.windows;
        cut += answer.truncated ? 1U : 0U;
    }
    const auto count = static_cast<double>(questions.size());
    ScoreReport report(options.json);
    report.share("exact match", exact / count);
    report.share("F1", f1 / count);
    report.text(format("questions: %zu, windows: %llu, questions cut: %llu\n", questions.size(),
                       static_cast<unsigned long long>(windows), static_cast<unsigned long long>(cut)));
    report.field("questions", std::uint64_t{questions.size()});
    report.field("windows", windows);
    report.field("truncated", cut);
    write_output(report.done());
}

}  // namespace

const OptionGroup kAnswerOptions(kOptions);

extern const TaskFace kAnswerFace;
const TaskFace kAnswerFace = {
    "answers questions",
    {&kPairOptions, &kAnswerOptions},
    check,
    kQuestions,
    kOutput,
    {kEvaluation},
    described,
    "question or text cut, it has more than %u tokens\n",
    as_text,
    append_answers,
    evaluate_answers,
    RowTexts::joined,
    false,
    nullptr,
    " [OPTION…] --question Q --context C | --pair Q C | --pairs",
};

}  // namespace etch::cli
