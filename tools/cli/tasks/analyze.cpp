// SPDX-License-Identifier: Apache-2.0
// What several heads make of a text: of each what the program of a model of its own would print. Evaluated: one of
// them, as that program does it.
#include <algorithm>
#include <iterator>
#include <string>

#include "../answers.hpp"
#include "../failure.hpp"
#include "../label_evaluation.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/json.hpp"
#include "../text/utf8.hpp"

namespace etch::cli {

extern const TaskFace kAnswerFace;
extern const TaskFace kLabelFace;
extern const TaskFace kLabelSetFace;
extern const TaskFace kRegressFace;
extern const TaskFace kEmbedFace;
extern const TaskFace kTagFace;
extern const TaskFace kFillMaskFace;
extern const TaskFace kNextSentenceFace;

namespace {

constexpr const char* kInput = R"(
  --pair A B           the two texts A and B together; may be repeated
  --pairs              lines are A<TAB>B
  --question Q         with --head of one that answers questions: Q about --context C or --context-file F; it also takes
                       --window N, --stride N, --longest N, --no-answer, --by-tokens and --logits, as that head's own
                       program has them
)";

constexpr const char* kOutput = R"(
                       a line a head, its name and a TAB first; of a mask each, too
  --head NAME          this head alone, as the program of this head alone; one that answers questions only so
  --top K              of labels or candidates so many (default 5), of answers (default 1)
  --aggregation A      of a head that tags: none, simple (default), first, average or max
  --json               {"heads": {NAME: what the program of this head alone prints}, "tokens", "truncated"}
  --probabilities      with --json: of a head that tags {"probabilities"} of each label for each token
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE --head NAME
  how well this head answers, as the program of this head alone says it. FILE is .conll, .bio or .iob for a head that
  tags, .json or .jsonl for one that answers questions, else .csv, .tsv or .jsonl, for embeddings and for next sentences
  with two texts a row. It has at most 256 MiB and 1,000 columns.
  --json               one object, as the program of this head alone prints it
  --label-column C     number from 1, or name (default 1)
  --confusion          of one label a text: accuracy and the confusion matrix alone, with --json as an object
)";

std::uint32_t place_of(std::string_view head) {
    for (std::uint32_t i = 0; i < kModel.width; ++i) {
        if (label(i) == head) {
            return i;
        }
    }
    fail(kWrongUse, "--head: there is no head %s, the model has%s", quoted(head).c_str(), listed_names("").c_str());
}

// --top is of labels and of answers.
const Option kOptions[] = {
    {"--head", 1, kTexts | kRows, kNone,
     [](Options& o, Values v) {
         o.head = v[0];
         o.wanted.head = place_of(v[0]);
     }},
    {"--top", 1, kTexts, kNone,
     [](Options& o, Values v) {
         o.top = number("--top", v[0], 1, 1000000);
         o.wanted.answers.top = std::min(*o.top, 1000U);
     }},
};
const OptionGroup kHeadOptions(kOptions);

const TaskFace& face_of(Task task) {
    switch (task) {
        case Task::single_label:
            return kLabelFace;
        case Task::multi_label:
            return kLabelSetFace;
        case Task::regression:
            return kRegressFace;
        case Task::embedding:
            return kEmbedFace;
        case Task::tagging:
            return kTagFace;
        case Task::fill_mask:
            return kFillMaskFace;
        case Task::next_sentence:
            return kNextSentenceFace;
        case Task::answering:
            return kAnswerFace;
        default:
            fail(kRunFailure, "a head of a task that this program does not know");
    }
}

bool is_question(const Answer& answer) {
    return answer.heads == nullptr;
}

bool has_question_options(const Options& options) {
    const AnswerOptions& asked = options.wanted.answers;
    return options.question || options.context || options.context_file || options.logits || asked.window != 0 ||
           asked.stride != 0 || asked.longest != 0 || asked.no_answer || asked.by_tokens;
}

// The head that is asked alone, and its answer.
HeadAnswer chosen(const Options& options, const Answer& answer) {
    if (is_question(answer)) {
        kAnswerFace.check(options);  // of a text alone, too
        return {*options.head, Task::answering, answer};
    }
    if (has_question_options(options)) {
        fail(kWrongUse, "--head %s answers no questions", quoted(*options.head).c_str());
    }
    return answer.heads[*options.wanted.head];
}

std::string as_text(const Options& options, const Text& text, const Answer& answer) {
    if (options.head) {
        const HeadAnswer head = chosen(options, answer);
        return face_of(head.task).as_text(options, text, head.answer);
    }
    std::string out;
    for (std::uint32_t i = 0; i < answer.head_count; ++i) {
        const HeadAnswer& head = answer.heads[i];
        std::string lines = face_of(head.task).as_text(options, text, head.answer);
        std::string begin(head.name);
        begin += '\t';
        for (std::size_t at = lines.find('\n'); at + 1 < lines.size(); at = lines.find('\n', at + 1 + begin.size())) {
            lines.insert(at + 1, begin);
        }
        out += begin + lines;
    }
    return out;
}

std::string described() {
    return listed_names(", heads:");
}

void check(const Options& options) {
    if (options.probabilities && !options.json) {
        fail(kWrongUse, "--probabilities only goes with --json");
    }
    if (options.mode == Mode::evaluate && !options.head) {
        fail(kWrongUse, "--evaluate judges one head: choose it by --head%s", listed_names("").c_str());
    }
    if (has_question_options(options)) {
        if (!options.head) {
            fail(kWrongUse, "questions are for the head that answers them: choose it by --head%s",
                 listed_names("").c_str());
        }
        kAnswerFace.check(options);
    }
}

bool has(const TaskFace& face, const OptionGroup& group) {
    return std::find(std::begin(face.options), std::end(face.options), &group) != std::end(face.options);
}

// Refuses options of other tasks than the head's.
void check_for(const TaskFace& face, const Options& options) {
    const char* const alien = options.label_values && !has(face, kLabelOptions)          ? "--labels"
                              : options.confusion && !has(face, kMatrixOptions)          ? "--confusion"
                              : options.pair_lines && !has(face, kPairOptions)           ? "--pairs"
                              : options.text_columns && !has(face, kTableOptions)        ? "--text-columns"
                              : options.header && !has(face, kTableOptions)              ? "--header"
                              : options.label_column != "1" && !has(face, kTableOptions) ? "--label-column"
                                                                                         : nullptr;
    if (alien != nullptr) {
        fail(kWrongUse, "%s does not go with --evaluate of head %s, which %s", alien, quoted(*options.head).c_str(),
             face.does);
    }
    face.check(options);
}

void evaluate_head(const Options& options) {
    const std::uint32_t place = *options.wanted.head;
    Answer any = {};
    const std::string_view word = "a";  // an empty text may have no tokens
    if (const Status status = answer_text({word, {}, false}, any); status != Status::ok) {
        fail(kRunFailure, "the text %s: %s", quoted(word).c_str(), describe(status));
    }
    const HeadAnswer head = chosen(options, any);
    const TaskFace& face = face_of(head.task);
    check_for(face, options);
    if (is_question(any)) {
        face.evaluate(options);
        return;
    }
    if (head.task == Task::next_sentence && !kModel.pairs) {
        fail(kWrongUse, "--head %s: the model takes single texts only, for another of its heads does",
             quoted(head.name).c_str());
    }
    choose_head(place, *head.answer.outputs);
    Options of_head = options;
    of_head.head_texts = face.row;
    face.evaluate(of_head);
}

}  // namespace

void append_heads(std::string& out, const Options& options, const Text& text, const Answer& answer) {
    if (options.head) {
        const HeadAnswer head = chosen(options, answer);
        face_of(head.task).append_fields(out, options, text, head.answer);
        return;
    }
    append_key(out, "heads");
    for (std::uint32_t i = 0; i < answer.head_count; ++i) {
        const HeadAnswer& head = answer.heads[i];
        std::string fields;
        face_of(head.task).append_fields(fields, options, text, head.answer);
        out += i == 0 ? "{" : ", ";
        append_json(out, head.name);
        out += ": " + fields + '}';
    }
    out += '}';
}

extern const TaskFace kAnalyzeFace;
const TaskFace kAnalyzeFace = {
    "answers with several heads",
    {&kPairOptions, &kHeadOptions, &kAnswerOptions, &kTagOptions, &kTableOptions, &kLabelOptions, &kMatrixOptions},
    check,
    kInput,
    kOutput,
    {kEvaluation, kTextColumnsHelp, kLabelNamesHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_heads,
    evaluate_head,
    RowTexts::joined,
};

}  // namespace etch::cli
