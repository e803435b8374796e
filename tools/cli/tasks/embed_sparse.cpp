// SPDX-License-Identifier: Apache-2.0
// What a text weighs the entries of the vocabulary. Evaluated: the dot product of each row's query and document against
// the scores of the label column, Pearson and Spearman.
#include <algorithm>
#include <vector>

#include "../answers.hpp"
#include "../commands/compare_texts.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/utf8.hpp"
#include "etch/similarity.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       piece TAB weight, the largest first, the next pieces behind it
  --query              the texts are queries: of a model that has a table for them its weights of their tokens
  --top K              so many pieces (default 5, with --json all that have a weight above 0)
  --json               {"weights": [{"token", "id", "weight"}], "tokens", "truncated"}
)";

constexpr const char* kSimilarity = R"(
--similarity A B       the dot product of the two texts' weights, A a query and B a document; may be repeated
                       with --json {"similarity", "tokens", "truncated"}, the last two for each text

)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  Pearson's and Spearman's correlation of the dot product of a row's query and document with its score. csv has RFC 4180
  quotes, tsv has none, jsonl has an object a line, of strings and numbers. FILE has at most 256 MiB and 1,000 columns.
  --json               {"pearson", "spearman", "rows", "mean_tokens", "truncated"}
  --label-column C     number from 1, or name, of the column with the scores (default 1)
)";

const Option kOptions[] = {
    {"--query", 0, kTexts, kNone, [](Options& o, Values) { o.wanted.side = Side::query; }},
};
const OptionGroup kQueryOptions(kOptions);

// Of a query and a document one after the other; what else is wanted stays.
Wanted wanted;

void check(const Options& options) {
    check_one_by_one(options);
    if (options.wanted.side == Side::query && (options.pair_lines || !options.pairs.empty())) {
        refuse_together("--query", options.pair_lines ? "--pairs" : "--pair");
    }
    wanted = options.wanted;
}

// A line; an empty one where no weight is above 0.
std::string as_text(const Options& options, const Text&, const Answer& answer) {
    std::string out;
    const std::uint32_t shown = std::min(options.top.value_or(kTop), answer.weight_count);
    for (std::uint32_t i = 0; i < shown; ++i) {
        out += i == 0 ? "" : "\t";
        append_printable(out, piece(answer.weights[i].id));
        out += format("\t%.4f", static_cast<double>(answer.weights[i].weight));
    }
    return out + '\n';
}

std::string described() {
    return format(", weights of %u entries of its vocabulary", static_cast<unsigned>(kModel.width));
}

Answer answer_as(Side side, std::string_view text, const std::string& where) {
    wanted.side = side;
    set_wanted(wanted);
    return answer_or_fail(text, where);
}

// Of an answer, whose place the next one takes.
std::vector<TokenWeight> weights_by_id(const Answer& answer) {
    std::vector<TokenWeight> kept(answer.weights, answer.weights + answer.weight_count);
    sort_by_id(kept.data(), answer.weight_count);
    return kept;
}

Similarity compare(std::string_view first, std::string_view second, const std::string& where) {
    const Answer a = answer_as(Side::query, first, where);
    const std::vector<TokenWeight> of_first = weights_by_id(a);
    const Answer b = answer_as(Side::document, second, where);
    const std::vector<TokenWeight> of_second = weights_by_id(b);
    return {dot_product(of_first.data(), a.weight_count, of_second.data(), b.weight_count),
            {a.tokens, b.tokens},
            {a.truncated, b.truncated}};
}

}  // namespace

extern const TaskFace kEmbedSparseFace;
const TaskFace kEmbedSparseFace = {
    "embeds texts sparsely",
    {&kPairOptions, &kTopOptions, &kTableOptions, &kQueryOptions, &kSimilarityOptions},
    check,
    kPairHelp,
    kOutput,
    {kSimilarity, kEvaluation, kTwoTextColumnsHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_weights,
    evaluate_similarity,
    RowTexts::two,
    false,
    compare,
};

}  // namespace etch::cli
