// SPDX-License-Identifier: Apache-2.0
// A vector for each token of a text. Evaluated: MaxSim of each row's query and document against the scores of the label
// column, Pearson and Spearman.
#include <vector>

#include "../answers.hpp"
#include "../commands/compare_texts.hpp"
#include "../failure.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "etch/similarity.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       how many vectors the text has, as a document, and of how many values
  --query              the texts are queries
  --as-written         the texts come with the prompt that the model wants before them: none is written there; --tokens
                       always shows those of the text as it comes
  --json               {"vectors", "tokens", "truncated"}, "tokens" with what fills a query up
  --rows               with --json: {"rows", "kept"} of each token, and whether it has a vector
)";

constexpr const char* kSimilarity = R"(
--similarity QUERY DOCUMENT
                       MaxSim: the sum over the query's vectors of the largest product with any of the document's; may be
                       repeated, with --json {"similarity", "tokens", "truncated"}, the last two for each text

)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  Pearson's and Spearman's correlation of MaxSim of a row's query and document with its score. csv has RFC 4180 quotes,
  tsv has none, jsonl has an object a line, of strings and numbers. FILE has at most 256 MiB and 1,000 columns.
  --json               {"pearson", "spearman", "rows", "mean_tokens", "truncated"}
  --label-column C     number from 1, or name, of the column with the scores (default 1)
)";

constexpr const char* kCut = "text cut to the tokens of its kind, at most %u\n";

const Option kOptions[] = {
    {"--query", 0, kTexts, kNone, [](Options& o, Values) { o.wanted.side = Side::query; }},
    {"--as-written", 0, kTexts | kRows | bit(Mode::similarity), kNone,
     [](Options& o, Values) { o.wanted.as_written = true; }},
    {"--rows", 0, kTexts, kNone, [](Options& o, Values) { o.rows = true; }},
};
const OptionGroup kVectorOptions(kOptions);

// Of the model's two sides one after the other; what else is wanted stays.
Wanted wanted;

void check(const Options& options) {
    if (options.rows && !options.json) {
        fail(kWrongUse, "--rows only goes with --json");
    }
    wanted = options.wanted;
}

std::string as_text(const Options&, const Text&, const Answer& answer) {
    return format("%u vectors of %u values\n", static_cast<unsigned>(answer.vector_count),
                  static_cast<unsigned>(width_of(answer)));
}

std::string described() {
    return format(", vectors of %u components", static_cast<unsigned>(kModel.width));
}

Answer answer_as(Side side, std::string_view text, const std::string& where) {
    wanted.side = side;
    set_wanted(wanted);
    return answer_or_fail(text, where);
}

Similarity compare(std::string_view query, std::string_view document, const std::string& where) {
    const Answer a = answer_as(Side::query, query, where);
    const std::vector<float> kept(a.vectors, a.vectors + std::size_t{a.vector_count} * output_width());
    const Answer b = answer_as(Side::document, document, where);
    return {max_sim(kept.data(), a.vector_count, b.vectors, b.vector_count, output_width()),
            {a.tokens, b.tokens},
            {a.truncated, b.truncated}};
}

}  // namespace

extern const TaskFace kEmbedEachFace;
const TaskFace kEmbedEachFace = {
    "gives tokens vectors",
    {&kTableOptions, &kVectorOptions, &kSimilarityOptions},
    check,
    nullptr,
    kOutput,
    {kSimilarity, kEvaluation, kTwoTextColumnsHelp, kHeaderHelp},
    described,
    kCut,
    as_text,
    append_vectors,
    evaluate_similarity,
    RowTexts::two,
    false,
    compare,
};

}  // namespace etch::cli
