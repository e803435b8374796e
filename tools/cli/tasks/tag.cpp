// SPDX-License-Identifier: Apache-2.0
// Labels of tokens, and entities. Evaluated: entity F1, precision and recall, micro-averaged and by type. A word has
// the label of its first token, "O" where the model was given none of it.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "../answers.hpp"
#include "../failure.hpp"
#include "../output.hpp"
#include "../scores/entities.hpp"
#include "../scores/label_measures.hpp"
#include "../scores/score_tables.hpp"
#include "../tables/tagged_words.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/json.hpp"
#include "../text/utf8.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       label TAB text TAB score TAB begin TAB end, the next entities behind it; bytes of the text
  --aggregation A      what an entity is: none (a token), simple (default; tokens of one name one after the other),
                       first, average or max (words; by their first token, the mean, or the surest token)
  --json               {"entities": [{"label", "score", "start", "end", "text"}], "tokens", "truncated"}
  --probabilities      with --json: {"probabilities"} of each label for each token
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.conll|FILE.bio|FILE.iob
  entity F1, precision and recall by seqeval's rules. A line of FILE has a word in its first column and its label in the
  last one, an empty line ends a text; a word has the label of its first token. FILE has at most 256 MiB.
  --json               {"entity_f1", "precision", "recall", "words_with_the_right_label", "texts", "words", "entities",
                       "truncated", "per_type": [{"type", "precision", "recall", "f1", "entities"}]}
)";

Aggregation read_aggregation(std::string_view text) {
    for (std::size_t i = 0; i < std::size(kAggregationNames); ++i) {
        if (text == kAggregationNames[i]) {
            return static_cast<Aggregation>(i);
        }
    }
    fail(kWrongUse, "--aggregation: expected none, simple, first, average or max, got %s", quoted(text).c_str());
}

const Option kOptions[] = {
    {"--aggregation", 1, kTexts, kNone, [](Options& o, Values v) { o.wanted.aggregation = read_aggregation(v[0]); }},
    {"--probabilities", 0, kTexts, kNone, [](Options& o, Values) { o.probabilities = true; }},
};

}  // namespace

const OptionGroup kTagOptions(kOptions);

namespace {

void check(const Options& options) {
    if (options.probabilities && !options.json) {
        fail(kWrongUse, "--probabilities only goes with --json");
    }
}

// label TAB text TAB score TAB begin TAB end of each entity, the next one behind it.
std::string as_text(const Options& options, const Text& text, const Answer& answer) {
    std::string out;
    for (std::uint32_t i = 0; i < answer.span_count; ++i) {
        const TagSpan& span = answer.spans[i];
        out += i == 0 ? "" : "\t";
        append_printable(out, entity_name(options, answer, span));
        out += '\t';
        append_place_as_text(out, {span.begin, span.end, span.score}, text.first);
    }
    return out + '\n';
}

std::string described() {
    return listed_names(", labels:");
}

struct Counts {
    std::uint64_t right = 0;
    std::uint64_t found = 0;
    std::uint64_t true_ones = 0;

    LabelMeasures measures() const { return label_measures(right, found, true_ones); }
};

std::string_view label_of_token(const Answer& answer, std::uint32_t token) {
    const float* row = answer.values + std::size_t{token} * output_width();
    return label(static_cast<std::uint32_t>(std::max_element(row, row + output_width()) - row));
}

std::vector<std::string_view> tags_of_words(const TaggedText& text, const Answer& answer) {
    std::vector<std::string_view> tags;
    std::uint32_t token = 0;
    std::size_t begin = 0;
    for (const std::string_view word : text.words) {
        const std::size_t end = begin + word.size();
        const auto passed = [&](const TokenOffset& offset) {  // some tokenizers' words begin with the space before them
            return offset.begin == offset.end || (offset.begin < begin && offset.begin + 1 != begin);
        };
        while (token < answer.tokens && passed(answer.offsets[token])) {
            ++token;
        }
        const bool inside = token < answer.tokens && answer.offsets[token].begin < end;
        tags.push_back(inside ? label_of_token(answer, token) : "O");
        begin = end + 1;
    }
    return tags;
}

void count(const std::vector<Entity>& truths, const std::vector<Entity>& answers,
           std::map<std::string, Counts>& types) {
    for (const Entity& entity : truths) {
        ++types[std::string(entity.type)].true_ones;
    }
    for (const Entity& entity : answers) {
        Counts& counts = types[std::string(entity.type)];
        ++counts.found;
        counts.right += std::count(truths.begin(), truths.end(), entity) != 0 ? 1U : 0U;
    }
}

void evaluate_tags(const Options& options) {
    const TaggedFile file = read_tagged_words(options);
    std::map<std::string, Counts> types;
    std::uint64_t words = 0;
    std::uint64_t right = 0;
    std::uint64_t truncated = 0;
    for (const TaggedText& text : file.texts) {
        Answer answer = {};
        if (const Status status = answer_text({text.text, {}, false}, answer); status != Status::ok) {
            fail(kRunFailure, "%s: line %zu: %s", quoted(options.table).c_str(), text.line, describe(status));
        }
        const std::vector<std::string_view> tags = tags_of_words(text, answer);
        count(entities_of(text.tags), entities_of(tags), types);
        words += tags.size();
        for (std::size_t i = 0; i < tags.size(); ++i) {
            right += tags[i] == text.tags[i] ? 1U : 0U;
        }
        truncated += answer.truncated ? 1U : 0U;
    }
    Counts all;
    std::vector<std::string> names;
    std::vector<LabelMeasures> measures;
    for (const auto& [type, counts] : types) {
        all.right += counts.right;
        all.found += counts.found;
        all.true_ones += counts.true_ones;
        names.push_back(type);
        measures.push_back(counts.measures());
    }
    const LabelMeasures micro = all.measures();
    ScoreReport report(options.json);
    report.share("entity F1", micro.f1);
    report.share("precision", micro.precision);
    report.share("recall", micro.recall);
    report.share("words with the right label", ratio(right, words));
    report.text(format("texts: %zu, words: %llu, entities: %llu, cut to %u tokens: %llu\n", file.texts.size(),
                       static_cast<unsigned long long>(words), static_cast<unsigned long long>(all.true_ones),
                       static_cast<unsigned>(kModel.max_tokens), static_cast<unsigned long long>(truncated)));
    report.field("texts", std::uint64_t{file.texts.size()});
    report.field("words", words);
    report.field("entities", all.true_ones);
    report.field("truncated", truncated);
    report_types(report, names, measures);
    write_output(report.done());
}

}  // namespace

extern const TaskFace kTagFace;
const TaskFace kTagFace = {
    "tags texts", {&kTagOptions}, check,   nullptr,         kOutput,       {kEvaluation},
    described,    kTextCut,       as_text, append_entities, evaluate_tags, RowTexts::joined,
};

}  // namespace etch::cli
