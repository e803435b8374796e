// SPDX-License-Identifier: Apache-2.0
// --help and --version.
#include <vector>

#include "commands.hpp"
#include "etch/version.hpp"
#include "model.hpp"
#include "output.hpp"
#include "utf8.hpp"

namespace etch::cli {
namespace {

constexpr const char* kInput = R"( [OPTION…] [TEXT…]

Texts come from the arguments, from --file, or one a line from standard input. A line ends at LF; an empty line is an
empty text; a TAB is ordinary text and so is a CR, which counts as white space. `--` ends the options. Text is UTF-8,
a line has at most 16 MiB.

input
  --file F             one text a line from file F (- is standard input)
)";

constexpr const char* kPairs = R"(
  --pair A B           the two texts A and B together; may be repeated
  --pairs              lines are A<TAB>B
)";

constexpr const char* kPlainText = R"(
  --plain-text         read [SEP] and the like in a text as ordinary text: safe for untrusted input

output, one line a text
)";

constexpr const char* kLabelOutput = R"(
                       label TAB probability, best first, the next labels behind it
  --top K              so many labels (default 5)
  --json               {"label", "probability", "logits", "tokens", "truncated"}
)";
constexpr const char* kLabelSetOutput = R"(
                       label TAB probability, best first, the next labels behind it
  --top K              so many labels (default 5)
  --json               {"label", "probability", "labels", "probabilities", "logits", "tokens", "truncated"}; "label" is
                       the best one, "labels" are those with a probability of 0.5 or more
)";
constexpr const char* kValueOutput = R"(
                       the values, a space between
  --json               {"values", "tokens", "truncated"}
)";
constexpr const char* kEmbeddingOutput = R"(
                       the embedding's components, a space between
  --json               {"embedding", "tokens", "truncated"}
)";

constexpr const char* kTagOutput = R"(
                       label TAB text TAB score TAB begin TAB end, the next entities behind it; bytes of the text
  --aggregation A      what an entity is: none (a token), simple (default; tokens of one name one after the other),
                       first, average or max (words; by their first token, the mean, or the surest token)
  --json               {"entities": [{"label", "score", "start", "end", "text"}], "tokens", "truncated"}
  --probabilities      with --json: {"probabilities"} of each label for each token
)";

constexpr const char* kMaskOutput = R"(
                       piece TAB probability, best first, the next pieces behind it; a line for each mask
  --top K              so many pieces (default 5)
  --json               {"masks": [[{"token", "id", "probability"}]], "tokens", "truncated"}
)";

constexpr const char* kQuestions = R"(
  --question Q         one question, with
  --context C          its context, of any length,
  --context-file F     or the context that is in file F
  --pair Q C           a question and its context; may be repeated
  --pairs              lines are Q<TAB>C; a text alone is a context without a question, cut where it is too long
  --window N           tokens that are read at once (default 384, or as many as the model takes)
  --stride N           tokens that two windows of a long context share (default 128, or half a window)
  --longest N          tokens of an answer (default 15)
  --no-answer          "no answer" may be one
  --by-tokens          answers end where tokens do (default: where words do)
)";

constexpr const char* kAnswerOutput = R"(
                       text TAB score TAB begin TAB end, the next answers behind it; bytes of the context
  --top K              so many answers (default 1)
  --json               {"answers": [{"text", "score", "start", "end"}], "windows", "tokens", "truncated"}
  --logits             with --json: {"logits"} of each token of the last window, for its beginning and its end
)";

constexpr const char* kTokens = R"(
  --tokens             {"ids", "pieces", "offsets", "truncated"}; offsets are bytes of the original text

)";

constexpr const char* kSimilarity = R"(
--similarity A B       the cosine of the two texts' embeddings; may be repeated
                       with --json {"similarity", "tokens", "truncated"}, the last two for each text

)";

constexpr const char* kLabelEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  accuracy, precision, recall, F1 and confusion matrix over the rows of FILE. csv has RFC 4180 quotes, tsv has none,
  jsonl has an object a line, of strings and numbers.
  FILE has at most 256 MiB and 1,000 columns.
  --confusion          accuracy and the confusion matrix alone, counts and per cent of the true label in one; with
                       --json {"accuracy", "rows", "labels", "counts", "per_cent"}, counts[true label][answer]
  --label-column C     number from 1, or name (default 1)
)";
constexpr const char* kLabelSetEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  exact match, micro and macro F1, precision and recall over the rows of FILE; a row is given the labels with a
  probability of 0.5 or more. csv has RFC 4180 quotes, tsv has none,
  jsonl has an object a line, of strings and numbers.
  FILE has at most 256 MiB and 1,000 columns.
  --label-column C     number from 1, or name (default 1). Labels of a row are separated by ; and may be none.
                       Where the model has one label, also 0 and 1: without it, with it.
)";
constexpr const char* kValueEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  Pearson's and Spearman's correlation and mean squared error over the rows of FILE. csv has RFC 4180 quotes, tsv has
  none, jsonl has an object a line, of strings and numbers. FILE has at most 256 MiB and 1,000 columns.
  --label-column C     number from 1, or name, of the column with the true values (default 1); several are separated
                       by ;
)";
constexpr const char* kSimilarityEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  Pearson's and Spearman's correlation of the cosine of a row's two texts with its score. csv has RFC 4180 quotes, tsv
  has none, jsonl has an object a line, of strings and numbers. FILE has at most 256 MiB and 1,000 columns.
  --label-column C     number from 1, or name, of the column with the scores (default 1)
)";

constexpr const char* kTagEvaluation = R"(
--evaluate FILE.conll|FILE.bio|FILE.iob
  entity F1, precision and recall by seqeval's rules. A line of FILE has a word in its first column and its label in the
  last one, an empty line ends a text; a word has the label of its first token. FILE has at most 256 MiB.
)";

constexpr const char* kMaskEvaluation = R"(
--evaluate FILE.csv|FILE.tsv
  how often the right piece is the likeliest, and among the five likeliest, over the masks of the rows of FILE. csv has
  RFC 4180 quotes, tsv has none. FILE has at most 256 MiB and 1,000 columns.
  --label-column C     number from 1, or name (default 1): the pieces of a row's masks, separated by ; with or without
                       the mark of a word's beginning
)";

constexpr const char* kAnswerEvaluation = R"(
--evaluate FILE.json|FILE.jsonl
  exact match and F1 as SQuAD's script has them. FILE is SQuAD's, or has an object a line: {"question", "context"} and
  the right answers, {"all_answers"} or {"answer"}; none, or empty ones, where there is no answer. At most 256 MiB.
)";

constexpr const char* kTextColumns = R"(
  --text-columns C,…   numbers or names, joined by a space (default: all but the label's); two of them with --pairs
)";
constexpr const char* kTwoTextColumns = R"(
  --text-columns A,B   numbers or names of the two texts (default: all but the score's)
)";

constexpr const char* kLabelNames = R"(
  --labels 0|1         labels are numbers from 0 or from 1
  --labels names       labels are the model's label names, in upper or lower case
  --labels A,B,…       labels are these names, in the order of the model's labels
                       (default: names if all are names of labels, else numbers; from 0 if a 0 occurs, from 1 if
                       the number of labels does)
)";

constexpr const char* kHeader = R"(
  --header             the first row names the columns (implied where a column is given by name)
  --no-header          the first row is data (default)
)";

constexpr const char* kOther = R"(
  --limit N            only the first N rows

other
  --latency            median and 95th percentile for texts of 8 tokens to the maximum
  --memory             tables, code, arena, stack budget, measured peak
  --kernel NAME        compute with this kernel set (default: $ETCH_KERNEL if set, else the best)
  --kernel list        the names that this CPU can run, best first
  --threads N          1 to 64 (default 1); 0 or auto: the processors that this process may use
  --device cuda[:N]    compute on this NVIDIA GPU (default: cpu)
  --mode exact|fast    there: with the CPU's bits (default), or in bf16
  --self-test          check every table and recompute the golden texts
  --help, -h           this
  --version            version, model, recipe, checkpoint, kernel

exit code: 0 fine, 1 the input, the output or the self test failed, 2 wrong use
)";

// The parts of the help, which differ from task to task.
std::vector<const char*> usage() {
    switch (kModel.task) {
        case Task::single_label:
            return {kInput,           kPairs,       kPlainText,  kLabelOutput, kTokens,
                    kLabelEvaluation, kTextColumns, kLabelNames, kHeader,      kOther};
        case Task::multi_label:
            return {kInput,       kPairs,      kPlainText, kLabelSetOutput, kTokens, kLabelSetEvaluation,
                    kTextColumns, kLabelNames, kHeader,    kOther};
        case Task::regression:
            return {kInput, kPairs, kPlainText, kValueOutput, kTokens, kValueEvaluation, kTextColumns, kHeader, kOther};
        case Task::embedding:
            return {kInput,          kPairs,  kPlainText, kEmbeddingOutput, kTokens, kSimilarity, kSimilarityEvaluation,
                    kTwoTextColumns, kHeader, kOther};
        case Task::tagging:
            return {kInput, kPlainText, kTagOutput, kTokens, kTagEvaluation, kOther};
        case Task::fill_mask:
            return {kInput, kPairs, kPlainText, kMaskOutput, kTokens, kMaskEvaluation, kTextColumns, kHeader, kOther};
        case Task::answering:
            return {kInput, kQuestions, kPlainText, kAnswerOutput, kTokens, kAnswerEvaluation, kOther};
    }
    return {};
}

std::string printable(std::string_view text) {
    std::string out;
    append_printable(out, text);
    return out;
}

}  // namespace

void print_version() {
    write_output(format("etch %s\nmodel: %s\nrecipe: %s\ncheckpoint: %s\nkernel: %s\n", ETCH_VERSION,
                        printable(kModel.name).c_str(), printable(kModel.recipe).c_str(),
                        printable(kModel.checkpoint).c_str(), printable(kernel()).c_str()));
}

void print_help() {
    write_output("usage: " + printable(kModel.program));
    for (const std::string_view part : usage()) {
        write_output(part.substr(part[0] == '\n' ? 1 : 0));  // the parts begin on a line of their own, to be readable
    }
    write_output(format("model: %s, %u tokens at most", printable(kModel.name).c_str(),
                        static_cast<unsigned>(kModel.max_tokens)));
    if (kModel.task == Task::embedding) {
        write_output(format(", embeddings of %u components\n", static_cast<unsigned>(kModel.width)));
        return;
    }
    if (kModel.task == Task::fill_mask) {
        write_output(format(", %u candidates of a mask\n", static_cast<unsigned>(kModel.width)));
        return;
    }
    if (kModel.task == Task::answering) {
        write_output("\n");
        return;
    }
    write_output(kModel.task == Task::regression ? ", values:" : ", labels:");
    constexpr std::uint32_t kShown = 20;
    for (std::uint32_t i = 0; i < kModel.width && i < kShown; ++i) {
        write_output((i == 0 ? " " : ", ") + printable(label(i).substr(0, 200)));
    }
    write_output(kModel.width > kShown ? format(", … (%u)\n", static_cast<unsigned>(kModel.width)) : "\n");
}

}  // namespace etch::cli
