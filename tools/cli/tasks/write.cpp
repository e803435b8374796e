// SPDX-License-Identifier: Apache-2.0
// Texts that a model writes.
#include "../answers.hpp"
#include "../chat.hpp"
#include "../failure.hpp"
#include "../output.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/json.hpp"
#include "../text/number.hpp"
#include "../text/utf8.hpp"
#include "write_faces.hpp"

namespace etch::cli {

void evaluate_writing(const Options& options);  // write_evaluation.cpp

namespace {

constexpr const char* kChat = R"(
  --chat               texts are messages of a user, each of a conversation of its own: what the checkpoint's chat
                       template writes is put around them, and read with the special tokens that it has
  --system TEXT        behind a system's message
  --turns              the same, but lines are the messages of one conversation, which the answers are added to; an
                       empty line begins another one
)";

constexpr const char* kOutput = R"(
                       what the model writes
  --max-length N       fewer tokens than the model may write, its end included
  --beams N            fewer beams than the model has; 1 is greedy
  --nbest N            of what the beams found so many, the best first: a line of score TAB text for each
  --temperature T      tokens are drawn, 1/1024 to 1024; 0: the best are written
  --top-k K            of the K likeliest; 0: of all
  --top-p P            of the likeliest that have P of the probability together
  --seed N             random seed (default 0); each text draws numbers of its own; implies --temperature 1
  --stream             each text as it is written, token by token; what beams find, at its end
  --json               {"text", "score", "reason", "tokens", "truncated"}, with --nbest also "nbest": [{"text",
                       "score", "reason"}]; "score" is the sum of log-probabilities, of a search divided by length ^
                       penalty; "reason" says why no more was written: the model's end, or the length that it may have
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  what is written against the label column, over the rows of FILE: exact match, BLEU and chrF, both as sacreBLEU has
  them without options. csv has RFC 4180 quotes, tsv has none, jsonl has an object a line, of strings and numbers.
  FILE has at most 256 MiB and 1,000 columns. A model that draws its tokens (do_sample) draws them here, too, as of
  lines: by --seed and the number of the row. --temperature 0 judges the best ones.
  --json               {"exact_match", "exact", "bleu", "chrf", "rows", "mean_tokens", "truncated"}; "exact" is a number
                       of rows
  --label-column C     number from 1, or name (default 1)
)";

const char* reason_of(Ended ended) {
    switch (ended) {
        case Ended::end:
            return "end";
        case Ended::length:
            return "length";
        case Ended::capacity:
            break;
    }
    return "capacity";
}

std::uint32_t beams_of(const Options& options) {
    return options.wanted.beams == 0 ? kModel.beams : options.wanted.beams;
}

void print_piece(std::string_view piece) {
    std::string out;
    append_printable(out, piece);
    write_output(out);
    flush_output();
}

constexpr unsigned kDrawn = kTexts | kRows | bit(Mode::latency);
constexpr double kMostTemperature = 1024;

float temperature(std::string_view text) {
    const std::optional<double> value = parse_decimal(text);
    const bool in_range = value && *value >= 1 / kMostTemperature && *value <= kMostTemperature;
    if (!in_range && value != 0.0) {
        fail(kWrongUse, "--temperature: expected 0 or a number from 1/1024 to 1024, got %s", quoted(text).c_str());
    }
    return static_cast<float>(*value);
}

float top_p(std::string_view text) {
    const std::optional<double> value = parse_decimal(text);
    if (!value || *value < 0x1p-24 || *value > 1) {
        fail(kWrongUse, "--top-p: expected a number above 0, at most 1, got %s", quoted(text).c_str());
    }
    return static_cast<float>(*value);
}

std::uint64_t seed(std::string_view text) {
    const std::optional<std::uint64_t> value = parse_number(text);
    if (!value) fail(kWrongUse, "--seed: expected a number of at most 18 digits, got %s", quoted(text).c_str());
    return *value;
}

bool draws(const Options& options) {
    const Wanted& wanted = options.wanted;
    if (wanted.temperature) return *wanted.temperature > 0.0f;
    return wanted.top_k || wanted.top_p || wanted.seed;
}

const Option kWriteOption[] = {
    {"--max-length", 1, kTexts | kRows | bit(Mode::latency), kNone,
     [](Options& o, Values v) { o.wanted.max_length = number("--max-length", v[0], 1, kModel.width); }},
    {"--beams", 1, kTexts | kRows | bit(Mode::latency), kNone,
     [](Options& o, Values v) { o.wanted.beams = number("--beams", v[0], 1, kModel.beams); }},
    {"--nbest", 1, kTexts, kNone,
     [](Options& o, Values v) { o.wanted.nbest = number("--nbest", v[0], 1, kModel.beams); }},
    {"--temperature", 1, kDrawn, kNone, [](Options& o, Values v) { o.wanted.temperature = temperature(v[0]); }},
    {"--top-k", 1, kDrawn, kNone,
     [](Options& o, Values v) { o.wanted.top_k = number("--top-k", v[0], 0, UINT32_MAX); }},
    {"--top-p", 1, kDrawn, kNone, [](Options& o, Values v) { o.wanted.top_p = top_p(v[0]); }},
    {"--seed", 1, kDrawn, kNone, [](Options& o, Values v) { o.wanted.seed = seed(v[0]); }},
    {"--stream", 0, kTexts, kNone, [](Options& o, Values) { o.wanted.stream = print_piece; }},
};
const OptionGroup kWriteOptions(kWriteOption);

void check(const Options& options) {
    if (options.wanted.nbest > beams_of(options)) {
        fail(kWrongUse, "--nbest: %u beams find no more", static_cast<unsigned>(beams_of(options)));
    }
    if (draws(options) && options.wanted.beams > 1)
        refuse_together("--beams", "--temperature, --top-k, --top-p or --seed");
    if (draws(options) && options.wanted.nbest > 1)
        refuse_together("--nbest", "--temperature, --top-k, --top-p or --seed");
    if (options.wanted.stream == nullptr) return;
    if (options.json) refuse_together("--stream", "--json");
    if (options.tokens) refuse_together("--stream", "--tokens");
    if (options.wanted.nbest > 1) refuse_together("--stream", "--nbest");
}

void check_with_chat(const Options& options) {
    check(options);
    check_chat(options);
}

std::string as_text(const Options& options, const Text&, const Answer& answer) {
    if (options.wanted.stream != nullptr) return "\n";
    std::string out;
    for (std::size_t i = 0; i < answer.written_count; ++i) {
        if (options.wanted.nbest > 1) out += format("%.4f\t", static_cast<double>(answer.written[i].score));
        append_printable(out, answer.written[i].text);
        out += '\n';
    }
    return out;
}

void append_written(std::string& out, const WrittenText& one) {
    append_key(out, "text");
    append_json(out, one.text);
    append_key(out, "score");
    append_json(out, one.score);
    append_key(out, "reason");
    append_json(out, std::string_view(reason_of(one.ended)));
}

void append_fields(std::string& out, const Options& options, const Text&, const Answer& answer) {
    append_written(out, answer.written[0]);
    if (options.wanted.nbest == 1) return;
    append_key(out, "nbest");
    append_json_array(out, static_cast<std::uint32_t>(answer.written_count), [&](std::uint32_t i) {
        std::string one;
        append_written(one, answer.written[i]);
        out += one + '}';
    });
}

std::string described() {
    return format(", up to %u are written", static_cast<unsigned>(kModel.width));
}

}  // namespace

const TaskFace kWriteFace = {
    "writes texts",
    {&kWriteOptions, &kTableOptions},
    check,
    nullptr,
    kOutput,
    {kEvaluation, kJoinedColumnsHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_fields,
    evaluate_writing,
    RowTexts::joined,
    true,
};

const TaskFace kGenerateFace = {
    kWriteFace.does,
    {&kWriteOptions, &kTableOptions, &kChatOptions},
    check_with_chat,
    kChat,
    kOutput,
    {kEvaluation, kJoinedColumnsHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_fields,
    evaluate_writing,
    RowTexts::joined,
    true,
};

}  // namespace etch::cli
