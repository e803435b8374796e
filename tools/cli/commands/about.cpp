// SPDX-License-Identifier: Apache-2.0
// --help and --version.
#include "../model.hpp"
#include "../output.hpp"
#include "../task_face.hpp"
#include "../text/format.hpp"
#include "../text/utf8.hpp"
#include "commands.hpp"
#include "etch/version.hpp"

namespace etch::cli {
namespace {

constexpr const char* kInput = R"(

Texts come from the arguments, from --file, or one a line from standard input. A line ends at LF; an empty line is an
empty text; a TAB is ordinary text and so is a CR, which counts as white space. `--` ends the options. Text is UTF-8,
a line has at most 16 MiB. A byte order mark at the start of a file is skipped.

input
  --file F             one text a line from file F (- is standard input)
)";

constexpr const char* kPlainText = R"(
  --plain-text         read [SEP] and the like in a text as ordinary text: safe for untrusted input

output, one line a text
)";

constexpr const char* kTokens = R"(
  --tokens             {"ids", "pieces", "offsets", "truncated", "cut_word"}; offsets are bytes of the original text,
                       "cut_word" says that a word was longer than the tokenizer takes and became several

)";

constexpr const char* kOther = R"(
  --limit N            only the first N rows

other
  --latency            median and 95th percentile for texts of 8 tokens to the maximum
  --memory             tables, code, arena, stack budget, measured peak
  --kernel NAME        compute with this kernel set (default: $ETCH_KERNEL if set, else the best)
  --kernel list        the names that this CPU can run, best first
  --threads N          1 to 64 (default 1); 0 or auto: the processors that this process may use
  --huge-pages         the tables on huge pages: a start that takes longer, then faster where they exceed the caches
)";

// Of a program built with CUDA.
constexpr const char* kOnDevice = R"(
  --device cuda[:N]    compute on this NVIDIA GPU (default: cpu)
  --mode exact|fast    there: with the CPU's bits (default), or in bf16
)";

constexpr const char* kLast = R"(
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

void write_part(const char* part) {
    if (part != nullptr) {
        write_output(part + (part[0] == '\n' ? 1 : 0));  // they begin on a line of their own, to be readable
    }
}

}  // namespace

void print_version() {
    write_output(format("etch %s\nmodel: %s\nrecipe: %s\ncheckpoint: %s\nkernel: %s\n", ETCH_VERSION,
                        printable(kModel.name).c_str(), printable(kModel.recipe).c_str(),
                        printable(kModel.checkpoint).c_str(), printable(kernel()).c_str()));
}

void print_help() {
    const TaskFace& face = kModel.face;
    write_output("usage: " + printable(kModel.program) + face.usage + '\n');
    for (const char* const part : {kInput, face.input_help, kPlainText, face.output_help, kTokens}) {
        write_part(part);
    }
    for (const char* const part : face.rest_of_help) {
        write_part(part);
    }
    for (const char* const part : {kOther, kModel.cuda == nullptr ? nullptr : kOnDevice, kLast}) {
        write_part(part);
    }
    write_output(format("model: %s, %u tokens at most", printable(kModel.name).c_str(),
                        static_cast<unsigned>(kModel.max_tokens)));
    write_output(face.described() + '\n');
}

}  // namespace etch::cli
