// SPDX-License-Identifier: Apache-2.0
// The calls of a model that tells whether a text follows another, on each line of standard input and the one behind it:
// batches of pairs, steps, token ids, threads and the C functions give what is_next() gives. Exit code 0 where they do;
// else the line of the first check that does not hold. The argument names the kernels. The model is the one that the
// macros name.
#include "calls.hpp"

static bool same(const model::Result& a, const model::Result& b) {
    return std::memcmp(a.logits, b.logits, sizeof a.logits) == 0 && a.probability == b.probability &&
           a.tokens == b.tokens && a.truncated == b.truncated;
}

alignas(64) static std::uint8_t scratch[2 * model::kScratchBytes];

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    std::vector<etch::TextPair> pairs;
    std::vector<etch_text_pair> c_pairs;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        pairs.push_back({lines[i], lines[i + 1]});
        c_pairs.push_back({{lines[i].data(), lines[i].size()}, {lines[i + 1].data(), lines[i + 1].size()}});
    }
    CHECK(pairs.size() > 2);
    std::vector<model::Result> alone;
    for (const auto& [first, second] : pairs) {
        model::Result result{};
        CHECK(model::is_next(workspace, first, second, result) == etch::Status::ok);
        CHECK(result.probability > 0 && result.probability < 1);
        CHECK((result.logits[0] > result.logits[1]) == (result.probability > 0.5F));
        alone.push_back(result);

        for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{2000}, ~std::uint64_t{0}}) {
            model::Result in_steps{};
            CHECK(model::begin(workspace, first, second) == etch::Status::ok);
            etch::Status status = etch::Status::in_progress;
            while (status == etch::Status::in_progress)
                status = model::step(workspace, budget, in_steps);
            CHECK(status == etch::Status::ok && same(in_steps, result));
            CHECK(model::step(workspace, budget, in_steps) == etch::Status::not_begun);
        }

        model::Encoding encoding;
        CHECK(model::encode_pair(workspace, first, second, encoding) == etch::Status::ok);
        model::Result of_ids{};
        CHECK(model::is_next_tokens(workspace, encoding.ids, encoding.segments, encoding.count, of_ids) ==
              etch::Status::ok);
        of_ids.truncated = result.truncated;
        CHECK(same(of_ids, result));

        const etch::Executor executor{3, nullptr, run_in_turn, scratch};
        workspace.executor = &executor;
        model::Result by_workers{};
        CHECK(model::is_next(workspace, first, second, by_workers) == etch::Status::ok && same(by_workers, result));
        workspace.executor = nullptr;

        ETCH_C(result) c_result;
        CHECK(ETCH_C(is_next)(&c_workspace, first.data(), first.size(), second.data(), second.size(), &c_result) ==
              ETCH_OK);
        CHECK(std::memcmp(c_result.logits, result.logits, sizeof result.logits) == 0);
        CHECK(c_result.probability == result.probability && c_result.tokens == result.tokens);
        model::Result of_text{};
        CHECK(model::is_next_text(workspace, first, of_text) == etch::Status::ok);
        CHECK(ETCH_C(is_next_text)(&c_workspace, first.data(), first.size(), &c_result) == ETCH_OK);
        CHECK(c_result.probability == of_text.probability);
    }
    std::vector<model::Result> results(pairs.size());
    CHECK(model::is_next_batch(workspace, pairs.data(), pairs.size(), results.data()) == etch::Status::ok);
    std::vector<ETCH_C(result)> c_results(pairs.size());
    CHECK(ETCH_C(is_next_batch)(&c_workspace, c_pairs.data(), c_pairs.size(), c_results.data()) == ETCH_OK);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        CHECK(same(results[i], alone[i]));
        CHECK(std::memcmp(&c_results[i], &results[i], sizeof results[i]) == 0);
    }
    // Pairs that lie where the results go.
    const etch::TextPair inside{"a", {reinterpret_cast<const char*>(results.data()), 4}};
    CHECK(model::is_next_batch(workspace, &inside, 1, results.data()) == etch::Status::text_overlaps);
    const etch::TextPair own{{reinterpret_cast<const char*>(&workspace), 4}, "a"};
    CHECK(model::is_next_batch(workspace, &own, 1, results.data()) == etch::Status::text_overlaps);
    CHECK(model::is_next_batch(workspace, nullptr, 0, nullptr) == etch::Status::ok);
    CHECK(model::self_test(workspace) == etch::Status::ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    return 0;
}
