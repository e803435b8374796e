// SPDX-License-Identifier: Apache-2.0
// Whether a text follows another one. Evaluated: accuracy, precision, recall, F1 and confusion matrix.
#include <string>

#include "../answers.hpp"
#include "../label_evaluation.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       the probability that B follows A
  --json               {"probability", "logits", "tokens", "truncated"}; the logits say that B follows, that it is any
                       other text
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  accuracy, precision, recall, F1 and confusion matrix over the rows of FILE. csv has RFC 4180 quotes, tsv has none,
  jsonl has an object a line, of strings and numbers.
  FILE has at most 256 MiB and 1,000 columns.
  --json               {"accuracy", "rows", "mean_tokens", "truncated", "per_label": [{"label", "precision", "recall",
                       "f1", "rows"}], "counts"}; counts[true label][answer], the others from 0 to 1
  --confusion          accuracy and the confusion matrix alone, counts and per cent of the true label in one; with
                       --json {"accuracy", "rows", "labels", "counts", "per_cent"}
  --label-column C     number from 1, or name (default 1): next, or 0, where the second text follows the first; random,
                       or 1, where it is any other
)";

std::string as_text(const Options&, const Text&, const Answer& answer) {
    return format("%.4f\n", static_cast<double>(answer.values[0]));
}

std::string described() {
    return {};
}

}  // namespace

extern const TaskFace kNextSentenceFace;
const TaskFace kNextSentenceFace = {
    "tells whether a text follows another",
    {&kPairOptions, &kTableOptions, &kLabelOptions, &kMatrixOptions},
    accept_all,
    kPairHelp,
    kOutput,
    {kEvaluation, kTwoTextColumnsHelp, kLabelNamesHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_next_sentence,
    evaluate_labels,
    RowTexts::two,
};

}  // namespace etch::cli
