// SPDX-License-Identifier: Apache-2.0
// Labels of tokens: entity F1, precision and recall, micro-averaged and by type. A word has the label of its first
// token, "O" where the model was given none of it.
#include <algorithm>
#include <map>
#include <string>

#include "entities.hpp"
#include "evaluations.hpp"
#include "failure.hpp"
#include "label_measures.hpp"
#include "model.hpp"
#include "output.hpp"
#include "score_tables.hpp"
#include "tagged_words.hpp"

namespace etch::cli {
namespace {

struct Counts {
    std::uint64_t right = 0;
    std::uint64_t found = 0;
    std::uint64_t true_ones = 0;

    LabelMeasures measures() const { return label_measures(right, found, true_ones); }
};

std::string_view label_of_token(const Answer& answer, std::uint32_t token) {
    const float* row = answer.values + std::size_t{token} * kModel.width;
    return label(static_cast<std::uint32_t>(std::max_element(row, row + kModel.width) - row));
}

std::vector<std::string_view> tags_of_words(const TaggedText& text, const Answer& answer) {
    std::vector<std::string_view> tags;
    std::uint32_t token = 0;
    std::size_t begin = 0;
    for (const std::string_view word : text.words) {
        const std::size_t end = begin + word.size();
        const auto passed = [&](const TokenOffset& offset) {
            return offset.begin == offset.end || offset.begin < begin;
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

}  // namespace

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
    write_output(percent_line("entity F1", micro.f1));
    write_output(percent_line("precision", micro.precision));
    write_output(percent_line("recall", micro.recall));
    write_output(percent_line("words with the right label", ratio(right, words)));
    write_output(format("texts: %zu, words: %llu, entities: %llu, cut to %u tokens: %llu\n", file.texts.size(),
                        static_cast<unsigned long long>(words), static_cast<unsigned long long>(all.true_ones),
                        static_cast<unsigned>(kModel.max_tokens), static_cast<unsigned long long>(truncated)));
    write_output(entity_table(names, measures));
}

}  // namespace etch::cli
