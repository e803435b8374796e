// SPDX-License-Identifier: Apache-2.0
// The vector of a text. Evaluated: the cosine of each row's two texts against the scores of the label column, Pearson
// and Spearman.
#include <vector>

#include "../answers.hpp"
#include "../commands/compare_texts.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "etch/similarity.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       the embedding's components, a space between
  --json               {"embedding", "tokens", "truncated"}
)";

constexpr const char* kSimilarity = R"(
--similarity A B       the cosine of the two texts' embeddings; may be repeated
                       with --json {"similarity", "tokens", "truncated"}, the last two for each text

)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  Pearson's and Spearman's correlation of the cosine of a row's two texts with its score. csv has RFC 4180 quotes, tsv
  has none, jsonl has an object a line, of strings and numbers. FILE has at most 256 MiB and 1,000 columns.
  --json               {"pearson", "spearman", "rows", "mean_tokens", "truncated"}
  --label-column C     number from 1, or name, of the column with the scores (default 1)
)";

std::string as_text(const Options&, const Text&, const Answer& answer) {
    return values_as_text(answer);
}

std::string described() {
    return format(", embeddings of %u components", static_cast<unsigned>(kModel.width));
}

Similarity compare(std::string_view first, std::string_view second, const std::string& where) {
    const Answer a = answer_or_fail(first, where);
    const std::vector<float> kept(a.values, a.values + output_width());  // the next answer takes its place
    const Answer b = answer_or_fail(second, where);
    return {cosine_similarity(kept.data(), b.values, output_width()), {a.tokens, b.tokens}, {a.truncated, b.truncated}};
}

}  // namespace

extern const TaskFace kEmbedFace;
const TaskFace kEmbedFace = {
    "embeds texts",
    {&kPairOptions, &kTableOptions, &kSimilarityOptions},
    check_one_by_one,
    kPairHelp,
    kOutput,
    {kSimilarity, kEvaluation, kTwoTextColumnsHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_embedding,
    evaluate_similarity,
    RowTexts::two,
    false,
    compare,
};

}  // namespace etch::cli
