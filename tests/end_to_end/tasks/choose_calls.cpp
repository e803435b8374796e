// SPDX-License-Identifier: Apache-2.0
// The calls of a model that chooses, on the lines of standard input: the first one is the prompt, the others are its
// choices. Pairs one by one, batches, steps of a pair and of all, token ids and the C
// functions give what choose() gives. Exit code 0 where
// they do; else the line of the first check that does not hold. The argument names the kernels. The model is the one
// that the macros name.
#include <algorithm>
#include <cmath>

#include "calls.hpp"

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    CHECK(lines.size() > 3);
    const std::string_view prompt = lines[0];
    const std::vector<std::string_view> choices(lines.begin() + 1, lines.end());
    const std::size_t count = choices.size();

    std::vector<float> probabilities(count);
    model::Choice choice{};
    CHECK(model::choose(workspace, prompt, choices.data(), count, probabilities.data(), choice) == etch::Status::ok);
    float sum = 0;
    for (const float probability : probabilities) {
        CHECK(probability > 0 && probability <= probabilities[choice.best]);
        sum += probability;
    }
    CHECK(std::abs(sum - 1) < 1e-5F);

    std::vector<float> scores;
    std::vector<etch::TextPair> pairs;
    std::vector<etch_text> c_choices;
    std::vector<etch_text_pair> c_pairs;
    std::uint64_t tokens = 0;
    bool truncated = false;
    for (const std::string_view one : choices) {
        model::Result result{};
        CHECK(model::choose_pair(workspace, prompt, one, result) == etch::Status::ok);
        scores.push_back(result.score[0]);
        tokens += result.tokens;
        truncated = truncated || result.truncated;
        pairs.push_back({prompt, one});
        c_choices.push_back({one.data(), one.size()});
        c_pairs.push_back({{prompt.data(), prompt.size()}, c_choices.back()});

        model::Result in_steps{};
        CHECK(model::begin(workspace, prompt, one) == etch::Status::ok);
        etch::Status status = etch::Status::in_progress;
        while (status == etch::Status::in_progress) {
            float two[] = {1, 1};  // does not end it
            CHECK(model::probabilities(workspace, two, 2) == etch::Status::ok && two[0] == 0.5F && two[1] == 0.5F);
            status = model::step(workspace, 2000, in_steps);
        }
        CHECK(status == etch::Status::ok && in_steps.score[0] == scores.back() && in_steps.tokens == result.tokens);

        model::Encoding encoding;
        CHECK(model::encode_pair(workspace, prompt, one, encoding) == etch::Status::ok);
        model::Result of_ids{};
        CHECK(model::choose_tokens(workspace, encoding.ids, encoding.segments, encoding.count, of_ids) ==
              etch::Status::ok);
        CHECK(of_ids.score[0] == scores.back());

        ETCH_C(result) c_result;
        CHECK(ETCH_C(choose_pair)(&c_workspace, prompt.data(), prompt.size(), one.data(), one.size(), &c_result) ==
              ETCH_OK);
        CHECK(c_result.score[0] == scores.back() && c_result.truncated == result.truncated);
    }
    CHECK(tokens == choice.tokens && truncated == choice.truncated);
    std::vector<model::Result> results(count);
    CHECK(model::choose_batch(workspace, pairs.data(), count, results.data()) == etch::Status::ok);
    std::vector<ETCH_C(result)> c_results(count);
    CHECK(ETCH_C(choose_batch)(&c_workspace, c_pairs.data(), count, c_results.data()) == ETCH_OK);
    for (std::size_t i = 0; i < count; ++i)
        CHECK(results[i].score[0] == scores[i] && c_results[i].score[0] == scores[i]);

    CHECK(model::probabilities(workspace, scores.data(), count) == etch::Status::ok);
    CHECK(std::memcmp(scores.data(), probabilities.data(), count * sizeof(float)) == 0);
    std::vector<float> c_probabilities(count);
    ETCH_C(choice) c_choice;
    CHECK(ETCH_C(choose)(&c_workspace, prompt.data(), prompt.size(), c_choices.data(), count, c_probabilities.data(),
                         &c_choice) == ETCH_OK);
    CHECK(std::memcmp(c_probabilities.data(), probabilities.data(), count * sizeof(float)) == 0);
    CHECK(c_choice.best == choice.best && c_choice.tokens == choice.tokens && c_choice.truncated == choice.truncated);

    // All of them in steps, whatever each may do.
    for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{2000}, std::uint64_t{1} << 40}) {
        std::vector<float> stepped(count);
        model::Choice found{};
        CHECK(model::begin_choose(workspace, prompt, choices.data(), count, stepped.data()) == etch::Status::ok);
        std::size_t steps = 1;
        for (etch::Status status; (status = model::step_choose(workspace, budget, found)) != etch::Status::ok; ++steps)
            CHECK(status == etch::Status::in_progress);
        CHECK(budget > 2000 ? steps == 2 * count + 1 : steps > 2 * count + 1);
        CHECK(std::memcmp(stepped.data(), probabilities.data(), count * sizeof(float)) == 0);
        CHECK(found.best == choice.best && found.tokens == choice.tokens && found.truncated == choice.truncated);
        CHECK(model::step_choose(workspace, budget, found) == etch::Status::not_begun);

        std::fill(stepped.begin(), stepped.end(), 0.0F);
        CHECK(ETCH_C(begin_choose)(&c_workspace, prompt.data(), prompt.size(), c_choices.data(), count,
                                   stepped.data()) == ETCH_OK);
        for (etch_status status; (status = ETCH_C(step_choose)(&c_workspace, budget, &c_choice)) != ETCH_OK; --steps)
            CHECK(status == ETCH_IN_PROGRESS);
        CHECK(steps == 1 && std::memcmp(stepped.data(), probabilities.data(), count * sizeof(float)) == 0);
        CHECK(c_choice.best == choice.best && c_choice.tokens == tokens && c_choice.truncated == truncated);
    }
    // One is not the other, and any other call ends both.
    CHECK(model::begin_choose(workspace, prompt, choices.data(), count, scores.data()) == etch::Status::ok);
    CHECK(model::step_choose(workspace, 1, choice) == etch::Status::in_progress);
    CHECK(model::step(workspace, 1, results[0]) == etch::Status::not_begun);
    CHECK(model::step_choose(workspace, 1, choice) == etch::Status::in_progress);
    CHECK(model::begin(workspace, prompt, choices[0]) == etch::Status::ok);
    CHECK(model::step_choose(workspace, 1, choice) == etch::Status::not_begun);
    CHECK(model::step(workspace, 1, results[0]) == etch::Status::in_progress);
    CHECK(model::begin_choose(workspace, prompt, choices.data(), count, scores.data()) == etch::Status::ok);
    CHECK(model::choose_pair(workspace, prompt, choices[0], results[0]) == etch::Status::ok);
    CHECK(model::step_choose(workspace, 1, choice) == etch::Status::not_begun);

    // Of equal choices the first; of one the whole; of none nothing.
    const std::vector<std::string_view> equal(40, choices[0]);
    std::vector<float> parts(equal.size());
    CHECK(model::choose(workspace, prompt, equal.data(), equal.size(), parts.data(), choice) == etch::Status::ok);
    CHECK(choice.best == 0 && parts[0] == parts[39] && std::abs(parts[0] - 0.025F) < 1e-7F);
    CHECK(model::choose(workspace, prompt, equal.data(), 1, parts.data(), choice) == etch::Status::ok);
    CHECK(parts[0] == 1 && choice.best == 0);
    constexpr std::size_t kTooMany = std::size_t{1} << 32;
    CHECK(model::choose(workspace, prompt, equal.data(), kTooMany, parts.data(), choice) ==
          etch::Status::text_too_long);
    CHECK(model::begin(workspace, prompt, choices[0]) == etch::Status::ok);
    CHECK(model::choose(workspace, prompt, nullptr, 0, nullptr, choice) == etch::Status::ok && choice.tokens == 0);
    CHECK(model::step(workspace, 1, results[0]) == etch::Status::not_begun);
    CHECK(model::begin_choose(workspace, prompt, etch::TextList{}, 0, nullptr) == etch::Status::ok);
    choice = {7, 7, true};
    CHECK(model::step_choose(workspace, 1, choice) == etch::Status::ok);
    CHECK(choice.best == 0 && choice.tokens == 0 && !choice.truncated);

    // What is read where the call writes, up to the last byte of it.
    const auto overlaps = etch::Status::text_overlaps;
    const std::string_view places[] = {{reinterpret_cast<const char*>(probabilities.data() + count) - 4, 4},
                                       {reinterpret_cast<const char*>(&workspace), 4}};
    for (const std::string_view inside : places) {
        for (const std::size_t at : {std::size_t{0}, count - 1}) {
            std::vector<std::string_view> some = choices;
            some[at] = inside;
            CHECK(model::choose(workspace, prompt, some.data(), count, probabilities.data(), choice) == overlaps);
            CHECK(model::begin_choose(workspace, prompt, some.data(), count, probabilities.data()) == overlaps);
        }
        CHECK(model::choose(workspace, inside, choices.data(), count, probabilities.data(), choice) == overlaps);
        CHECK(model::begin_choose(workspace, inside, choices.data(), count, probabilities.data()) == overlaps);
    }
    CHECK(model::step_choose(workspace, 1, choice) == etch::Status::not_begun);

    // More than 32 bits count, of which nothing is read.
    const std::size_t many = std::size_t{1} << 32;
    const auto too_long = etch::Status::text_too_long;
    CHECK(model::probabilities(workspace, nullptr, many) == too_long);
    CHECK(model::begin_choose(workspace, prompt, choices.data(), many, nullptr) == too_long);
    CHECK(model::step_choose(workspace, 1, choice) == etch::Status::not_begun);
    {
        const InUse another;
        const auto away = etch::Status::workspace_in_use;
        CHECK(model::choose(workspace, prompt, choices.data(), count, probabilities.data(), choice) == away);
        CHECK(model::choose_pair(workspace, prompt, choices[0], results[0]) == away);
        CHECK(model::choose_batch(workspace, pairs.data(), count, results.data()) == away);
        CHECK(model::probabilities(workspace, scores.data(), count) == away);
        CHECK(model::begin(workspace, prompt, choices[0]) == away);
        CHECK(model::begin_choose(workspace, prompt, choices.data(), count, scores.data()) == away);
        CHECK(model::step_choose(workspace, 1, choice) == away);
        CHECK(model::step(workspace, 1, results[0]) == away);
        CHECK(model::self_test(workspace) == away);
    }
    CHECK(model::self_test(workspace) == etch::Status::ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    return 0;
}
