// SPDX-License-Identifier: Apache-2.0
// --help and --version.
#include "commands.hpp"
#include "etch/version.hpp"
#include "model.hpp"
#include "output.hpp"
#include "utf8.hpp"

namespace etch::cli {
namespace {

constexpr std::string_view kUsage = R"(usage: classify [OPTION…] [TEXT…]

Texts come from the arguments, from --file, or one a line from standard input. A line ends at LF; an empty line is an
empty text; a TAB is ordinary text and so is a CR, which counts as white space. `--` ends the options.

input
  --file F             one text a line from file F (- is standard input)
  --pair A B           the two texts A and B together; may be repeated
  --pairs              lines are A<TAB>B
  --plain-text         read [SEP] and the like in a text as ordinary text: safe for untrusted input

output, one line a text
                       label TAB probability, best first, the next labels behind it
  --top K              so many labels (default 5)
  --json               {"label", "probability", "logits", "tokens", "truncated"}
  --tokens             {"ids", "pieces", "offsets", "truncated"}; offsets are bytes of the original text

--evaluate FILE.csv|FILE.tsv
  accuracy, precision, recall, F1 and confusion matrix over the rows of FILE. csv has RFC 4180 quotes, tsv has none.
  --label-column C     number from 1, or name (default 1)
  --text-columns C,…   numbers or names, joined by a space (default: all but the label's); two of them with --pairs
  --labels 0|1         labels are numbers from 0 or from 1
  --labels names       labels are the model's label names, in upper or lower case
  --labels A,B,…       labels are these names, in the order of the model's labels
                       (default: names if all are names of labels, else numbers; from 0 if a 0 occurs, else from 1)
  --header             the first row names the columns (implied where a column is given by name)
  --no-header          the first row is data (default)
  --limit N            only the first N rows

other
  --latency            median and 95th percentile for texts of 8 tokens to the maximum
  --memory             tables, code, arena, stack budget, measured peak
  --kernel NAME        compute with this kernel set (default: $ETCH_KERNEL if set, else the best)
  --kernel list        the names that this CPU can run, best first
  --threads N          1 to 64 (default 1; this version computes on one)
  --self-test          check every table and recompute the golden texts
  --help, -h           this
  --version            version, model, recipe, checkpoint, kernel

exit code: 0 fine, 1 the input, the output or the self test failed, 2 wrong use
)";

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
    write_output(kUsage);
    write_output(format("model: %s, %u tokens at most, labels:", printable(kModel.name).c_str(),
                        static_cast<unsigned>(kModel.max_tokens)));
    constexpr std::uint32_t kShown = 20;
    for (std::uint32_t i = 0; i < kModel.label_count && i < kShown; ++i) {
        write_output((i == 0 ? " " : ", ") + printable(label(i).substr(0, 200)));
    }
    write_output(kModel.label_count > kShown ? format(", … (%u)\n", static_cast<unsigned>(kModel.label_count)) : "\n");
}

}  // namespace etch::cli
