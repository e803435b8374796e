// SPDX-License-Identifier: Apache-2.0
// The vector of a text. Evaluated: the cosine of each row's two texts against the scores of the label column, Pearson
// and Spearman.
#include <vector>

#include "../answers.hpp"
#include "../commands/compare_texts.hpp"
#include "../prompts.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "etch/similarity.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       the embedding's components, a space between
  --prompt NAME        the text stands behind the model's prompt of this name; of two texts that are compared NAME,NAME
                       may name one for each
  --as-written         the texts come with the prompt that the model wants: none is written there
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

// Before the two texts that are compared.
std::string_view prompts[2];

void check(const Options& options) {
    check_one_by_one(options);
    check_prompts(options);
    prompts[0] = prompt_of(options);
    prompts[1] = second_prompt_of(options);
}

std::string described() {
    const std::string named = listed_prompts();
    return format(", embeddings of %u components", static_cast<unsigned>(kModel.width)) +
           (named.empty() ? named : ", prompts:" + named);
}

Similarity compare(std::string_view first, std::string_view second, const std::string& where) {
    const Answer a = answer_or_fail(behind(prompts[0], first), where);
    const std::vector<float> kept(a.values, a.values + output_width());  // the next answer takes its place
    const Answer b = answer_or_fail(behind(prompts[1], second), where);
    return {cosine_similarity(kept.data(), b.values, output_width()), {a.tokens, b.tokens}, {a.truncated, b.truncated}};
}

}  // namespace

extern const TaskFace kEmbedFace;
const TaskFace kEmbedFace = {
    "embeds texts",
    {&kPairOptions, &kTableOptions, &kSimilarityOptions, &kPromptOptions},
    check,
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
