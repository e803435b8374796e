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
empty text; a TAB is ordinary text and so is a CR, which counts as white space. `--` ends the options.

input
  --file F             one text a line from file F (- is standard input)
  --pair A B           the two texts A and B together; may be repeated
  --pairs              lines are A<TAB>B
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

constexpr const char* kTokens = R"(
  --tokens             {"ids", "pieces", "offsets", "truncated"}; offsets are bytes of the original text

)";

constexpr const char* kSimilarity = R"(
--similarity A B       the cosine of the two texts' embeddings; may be repeated
                       with --json {"similarity", "tokens", "truncated"}, the last two for each text

)";

constexpr const char* kLabelEvaluation = R"(
--evaluate FILE.csv|FILE.tsv
  accuracy, precision, recall, F1 and confusion matrix over the rows of FILE. csv has RFC 4180 quotes, tsv has none.
  --label-column C     number from 1, or name (default 1)
)";
constexpr const char* kLabelSetEvaluation = R"(
--evaluate FILE.csv|FILE.tsv
  exact match, micro and macro F1, precision and recall over the rows of FILE; a row is given the labels with a
  probability of 0.5 or more. csv has RFC 4180 quotes, tsv has none.
  --label-column C     number from 1, or name (default 1). Labels of a row are separated by ; and may be none.
                       Where the model has one label, also 0 and 1: without it, with it.
)";
constexpr const char* kValueEvaluation = R"(
--evaluate FILE.csv|FILE.tsv
  Pearson's and Spearman's correlation and mean squared error over the rows of FILE. csv has RFC 4180 quotes, tsv has
  none.
  --label-column C     number from 1, or name, of the column with the true values (default 1); several are separated
                       by ;
)";
constexpr const char* kSimilarityEvaluation = R"(
--evaluate FILE.csv|FILE.tsv
  Pearson's and Spearman's correlation of the cosine of a row's two texts with its score. csv has RFC 4180 quotes, tsv
  has none.
  --label-column C     number from 1, or name, of the column with the scores (default 1)
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
                       (default: names if all are names of labels, else numbers; from 0 if a 0 occurs, else from 1)
)";

constexpr const char* kOther = R"(
  --header             the first row names the columns (implied where a column is given by name)
  --no-header          the first row is data (default)
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
            return {kInput, kLabelOutput, kTokens, kLabelEvaluation, kTextColumns, kLabelNames, kOther};
        case Task::multi_label:
            return {kInput, kLabelSetOutput, kTokens, kLabelSetEvaluation, kTextColumns, kLabelNames, kOther};
        case Task::regression:
            return {kInput, kValueOutput, kTokens, kValueEvaluation, kTextColumns, kOther};
        case Task::embedding:
            return {kInput, kEmbeddingOutput, kTokens, kSimilarity, kSimilarityEvaluation, kTwoTextColumns, kOther};
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
    write_output(kModel.task == Task::regression ? ", values:" : ", labels:");
    constexpr std::uint32_t kShown = 20;
    for (std::uint32_t i = 0; i < kModel.width && i < kShown; ++i) {
        write_output((i == 0 ? " " : ", ") + printable(label(i).substr(0, 200)));
    }
    write_output(kModel.width > kShown ? format(", … (%u)\n", static_cast<unsigned>(kModel.width)) : "\n");
}

}  // namespace etch::cli
