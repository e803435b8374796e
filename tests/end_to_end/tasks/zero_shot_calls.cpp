// SPDX-License-Identifier: Apache-2.0
// The calls of a model that takes labels at run time, on the lines of standard input: the first one is the text, the
// others are labels. Labels one by one, whole hypotheses, batches, steps, token ids and the C functions give what
// zero_shot() gives. Exit code 0 where they do; else the line of the first check that does not hold. The argument names
// the kernels. The model is the one that the macros name.
#include <algorithm>
#include <cmath>

#include "calls.hpp"

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    CHECK(lines.size() > 3);
    const std::string_view text = lines[0];
    const std::vector<std::string_view> labels(lines.begin() + 1, lines.end());
    const std::size_t count = labels.size();
    const model::Hypothesis hypothesis{"the ", " is up"};
    const ETCH_C(hypothesis) c_hypothesis = {{"the ", 4}, {" is up", 6}};

    std::vector<float> logits;
    std::vector<float> alone;
    std::vector<std::string> whole;
    std::vector<etch::TextPair> pairs;
    std::vector<etch_text> c_labels;
    std::vector<etch_text_pair> c_pairs;
    std::uint64_t tokens = 0;
    for (const std::string_view label : labels)
        whole.push_back(std::string(hypothesis.before).append(label).append(hypothesis.after));
    for (std::size_t i = 0; i < count; ++i) {
        const std::string& one = whole[i];
        model::Result result{};
        CHECK(model::zero_shot_label(workspace, text, labels[i], hypothesis, result) == etch::Status::ok);
        logits.push_back(result.logits[model::kEntailment]);
        alone.push_back(result.probability);
        tokens += result.tokens;
        const double other = result.logits[model::kContradiction];
        CHECK(std::abs(1 / (1 + std::exp(other - logits[i])) - alone[i]) < 1e-6);
        pairs.push_back({text, one});
        c_labels.push_back({labels[i].data(), labels[i].size()});
        c_pairs.push_back({{text.data(), text.size()}, {one.data(), one.size()}});

        model::Result other_way{};
        CHECK(model::zero_shot_pair(workspace, text, one, other_way) == etch::Status::ok);
        CHECK(std::memcmp(&other_way, &result, sizeof result) == 0);
        other_way = {};
        CHECK(model::begin(workspace, text, labels[i], hypothesis) == etch::Status::ok);
        etch::Status status = etch::Status::in_progress;
        while (status == etch::Status::in_progress)
            status = model::step(workspace, 2000, other_way);
        CHECK(status == etch::Status::ok && std::memcmp(&other_way, &result, sizeof result) == 0);

        model::Encoding encoding;
        CHECK(model::encode_pair(workspace, text, one, encoding) == etch::Status::ok);
        CHECK(model::zero_shot_tokens(workspace, encoding.ids, encoding.segments, encoding.count, other_way) ==
              etch::Status::ok);
        CHECK(std::memcmp(&other_way.logits, &result.logits, sizeof result.logits) == 0);

        ETCH_C(result) c_result;
        CHECK(ETCH_C(zero_shot_label)(&c_workspace, text.data(), text.size(), labels[i].data(), labels[i].size(),
                                      &c_hypothesis, &c_result) == ETCH_OK);
        CHECK(c_result.probability == result.probability && c_result.tokens == result.tokens);
        CHECK(ETCH_C(zero_shot_pair)(&c_workspace, text.data(), text.size(), one.data(), one.size(), &c_result) ==
              ETCH_OK);
        CHECK(c_result.probability == result.probability);
        CHECK(ETCH_C(begin)(&c_workspace, text.data(), text.size(), labels[i].data(), labels[i].size(),
                            &c_hypothesis) == ETCH_OK);
        etch_status c_status = ETCH_IN_PROGRESS;
        while (c_status == ETCH_IN_PROGRESS)
            c_status = ETCH_C(step)(&c_workspace, 5000, &c_result);
        CHECK(c_status == ETCH_OK && c_result.probability == result.probability);
    }
    std::vector<model::Result> results(count);
    CHECK(model::zero_shot_batch(workspace, pairs.data(), count, results.data()) == etch::Status::ok);
    std::vector<ETCH_C(result)> c_results(count);
    CHECK(ETCH_C(zero_shot_batch)(&c_workspace, c_pairs.data(), count, c_results.data()) == ETCH_OK);
    for (std::size_t i = 0; i < count; ++i)
        CHECK(results[i].probability == alone[i] && c_results[i].probability == alone[i]);

    std::vector<float> softmax = logits;
    CHECK(model::probabilities(workspace, softmax.data(), count) == etch::Status::ok);
    std::vector<float> scores(count);
    model::Choice choice{};
    ETCH_C(choice) c_choice;
    for (const bool multi_label : {false, true}) {
        const std::vector<float>& meant = multi_label ? alone : softmax;
        CHECK(model::zero_shot(workspace, text, labels.data(), count, hypothesis, multi_label, scores.data(), choice) ==
              etch::Status::ok);
        CHECK(std::memcmp(scores.data(), meant.data(), count * sizeof(float)) == 0 && choice.tokens == tokens);
        CHECK(choice.best == std::max_element(meant.begin(), meant.end()) - meant.begin());
        std::fill(scores.begin(), scores.end(), 0.0F);
        CHECK(ETCH_C(zero_shot)(&c_workspace, text.data(), text.size(), c_labels.data(), count, &c_hypothesis,
                                multi_label, scores.data(), &c_choice) == ETCH_OK);
        CHECK(std::memcmp(scores.data(), meant.data(), count * sizeof(float)) == 0);
        CHECK(c_choice.best == choice.best && c_choice.tokens == tokens);

        // All of them in steps, whatever each may do.
        for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{2000}, std::uint64_t{1} << 40}) {
            std::fill(scores.begin(), scores.end(), 0.0F);
            model::Choice found{};
            CHECK(model::begin_zero_shot(workspace, text, labels.data(), count, hypothesis, multi_label,
                                         scores.data()) == etch::Status::ok);
            std::size_t steps = 1;
            for (etch::Status status; (status = model::step_zero_shot(workspace, budget, found)) != etch::Status::ok;
                 ++steps)
                CHECK(status == etch::Status::in_progress);
            CHECK(budget > 2000 ? steps == 2 * count + 1 : steps > 2 * count + 1);
            CHECK(std::memcmp(scores.data(), meant.data(), count * sizeof(float)) == 0);
            CHECK(found.best == choice.best && found.tokens == tokens && found.truncated == choice.truncated);
            CHECK(model::step_zero_shot(workspace, budget, found) == etch::Status::not_begun);

            std::fill(scores.begin(), scores.end(), 0.0F);
            CHECK(ETCH_C(begin_zero_shot)(&c_workspace, text.data(), text.size(), c_labels.data(), count, &c_hypothesis,
                                          multi_label, scores.data()) == ETCH_OK);
            for (etch_status status; (status = ETCH_C(step_zero_shot)(&c_workspace, budget, &c_choice)) != ETCH_OK;
                 --steps)
                CHECK(status == ETCH_IN_PROGRESS);
            CHECK(steps == 1 && std::memcmp(scores.data(), meant.data(), count * sizeof(float)) == 0);
            CHECK(c_choice.best == choice.best && c_choice.tokens == tokens);
        }
    }
    // One is not the other.
    CHECK(model::begin_zero_shot(workspace, text, labels.data(), count, hypothesis, false, scores.data()) ==
          etch::Status::ok);
    CHECK(model::step(workspace, 1, results[0]) == etch::Status::not_begun);
    CHECK(model::step_zero_shot(workspace, 1, choice) == etch::Status::in_progress);
    CHECK(model::begin(workspace, text, labels[0], hypothesis) == etch::Status::ok);
    CHECK(model::step_zero_shot(workspace, 1, choice) == etch::Status::not_begun);
    // One label is judged by itself, however it is asked.
    CHECK(model::zero_shot(workspace, text, labels.data(), 1, hypothesis, false, scores.data(), choice) ==
          etch::Status::ok);
    CHECK(scores[0] == alone[0]);
    scores[0] = 0;
    CHECK(model::begin_zero_shot(workspace, text, labels.data(), 1, hypothesis, false, scores.data()) ==
          etch::Status::ok);
    for (etch::Status status; (status = model::step_zero_shot(workspace, 5000, choice)) != etch::Status::ok;)
        CHECK(status == etch::Status::in_progress);
    CHECK(scores[0] == alone[0]);

    // No label: refused, and what was begun has ended.
    CHECK(model::begin(workspace, text, labels[0], hypothesis) == etch::Status::ok);
    CHECK(model::zero_shot(workspace, text, nullptr, 0, hypothesis, false, nullptr, choice) == etch::Status::no_labels);
    CHECK(model::step(workspace, 1, results[0]) == etch::Status::not_begun);
    CHECK(ETCH_C(zero_shot)(&c_workspace, text.data(), text.size(), nullptr, 0, &c_hypothesis, false, nullptr,
                            &c_choice) == ETCH_NO_LABELS);
    CHECK(model::begin(workspace, text, labels[0], hypothesis) == etch::Status::ok);
    CHECK(model::begin_zero_shot(workspace, text, etch::TextList{}, 0, hypothesis, false, nullptr) ==
          etch::Status::no_labels);
    CHECK(model::step(workspace, 1, results[0]) == etch::Status::not_begun);

    // Hypotheses of as many bytes as there is memory for, one more, and one of too many tokens.
    const std::string spaces(model::kHypothesisBytes - 10, ' ');
    CHECK(model::zero_shot_label(workspace, text, spaces, hypothesis, results[0]) == etch::Status::ok);
    CHECK(model::zero_shot_label(workspace, text, spaces + " ", hypothesis, results[0]) ==
          etch::Status::hypothesis_too_long);
    std::string words;
    for (std::uint32_t i = 0; i < model::kMaxTokens; ++i)
        words += "a ";
    CHECK(model::zero_shot_label(workspace, text, words, hypothesis, results[0]) == etch::Status::hypothesis_too_long);
    // Behind others in steps it ends the call.
    const std::string_view with_long[] = {labels[0], words, labels[1]};
    CHECK(model::begin_zero_shot(workspace, text, with_long, 3, hypothesis, true, scores.data()) == etch::Status::ok);
    etch::Status of_long = etch::Status::in_progress;
    while (of_long == etch::Status::in_progress)
        of_long = model::step_zero_shot(workspace, 5000, choice);
    CHECK(of_long == etch::Status::hypothesis_too_long && scores[0] == alone[0]);
    CHECK(model::step_zero_shot(workspace, 5000, choice) == etch::Status::not_begun);
    // Behind others in a batch it is refused, too; what is cut there is cut as alone.
    pairs[1].second = words;
    CHECK(model::zero_shot_batch(workspace, pairs.data(), count, results.data()) == etch::Status::hypothesis_too_long);
    pairs[1] = {words, whole[1]};
    CHECK(model::zero_shot_batch(workspace, pairs.data(), count, results.data()) == etch::Status::ok);
    CHECK(model::zero_shot_pair(workspace, words, whole[1], results[0]) == etch::Status::ok);
    CHECK(results[1].truncated && results[0].probability == results[1].probability);

    // What is read where the call writes, up to the last byte of it.
    const auto overlaps = etch::Status::text_overlaps;
    const std::string_view own{reinterpret_cast<const char*>(&workspace), 4};
    const std::string_view last{reinterpret_cast<const char*>(scores.data() + count) - 4, 4};
    for (const std::string_view inside : {own, last}) {
        std::vector<std::string_view> some = labels;
        some[count - 1] = inside;
        CHECK(model::zero_shot(workspace, text, some.data(), count, hypothesis, false, scores.data(), choice) ==
              overlaps);
        CHECK(model::begin_zero_shot(workspace, text, some.data(), count, hypothesis, false, scores.data()) ==
              overlaps);
        CHECK(model::zero_shot(workspace, inside, labels.data(), count, hypothesis, false, scores.data(), choice) ==
              overlaps);
        for (const model::Hypothesis& around : {model::Hypothesis{inside, "."}, model::Hypothesis{"", inside}}) {
            CHECK(model::zero_shot(workspace, text, labels.data(), count, around, false, scores.data(), choice) ==
                  overlaps);
            CHECK(model::begin_zero_shot(workspace, text, labels.data(), count, around, false, scores.data()) ==
                  overlaps);
        }
    }
    CHECK(model::zero_shot_label(workspace, text, own, hypothesis, results[0]) == etch::Status::text_overlaps);
    {
        const InUse another;
        const auto away = etch::Status::workspace_in_use;
        CHECK(model::zero_shot(workspace, text, labels.data(), count, hypothesis, false, scores.data(), choice) ==
              away);
        CHECK(model::zero_shot_label(workspace, text, labels[0], hypothesis, results[0]) == away);
        CHECK(model::probabilities(workspace, scores.data(), count) == away);
        CHECK(model::begin(workspace, text, labels[0], hypothesis) == away);
        CHECK(model::begin_zero_shot(workspace, text, labels.data(), count, hypothesis, false, scores.data()) == away);
        CHECK(model::step_zero_shot(workspace, 1, choice) == away);
        CHECK(model::self_test(workspace) == away);
    }
    CHECK(model::self_test(workspace) == etch::Status::ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    return 0;
}
