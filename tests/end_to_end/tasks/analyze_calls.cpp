// SPDX-License-Identifier: Apache-2.0
// The calls of a model with several heads on each line of standard input: steps, batches, token ids, workers and the C
// functions give what analyze() gives, for every head. Exit code 0 where they do; else the line of the first check that
// does not hold. The argument names the kernels. The model is the one that the macros name.
#include "calls.hpp"
#include "etch/decode/candidates.hpp"
#include "etch/decode/tags.hpp"

// A result with room for what its heads find.
struct Room {
    std::vector<std::vector<etch::TagSpan>> spans;
    std::vector<std::vector<etch::Candidate>> candidates;

    void give(model::Result& result) {
        result = {};
        model::each_head(result, [&](auto head, auto& part) {
            if constexpr (decltype(head)::kTask == etch::Task::tagging) {
                part.spans = spans.emplace_back(model::kMaxTokens).data();
                part.capacity = model::kMaxTokens;
                part.aggregation = etch::Aggregation::simple;
            }
            if constexpr (decltype(head)::kTask == etch::Task::fill_mask) {
                part.candidates = candidates.emplace_back(model::kMaxTokens * 2).data();
                part.capacity = model::kMaxTokens;
                part.top = 2;
            }
        });
    }
};

template <class T>
static void append(std::string& out, const T* values, std::size_t count) {
    if (count != 0) out.append(reinterpret_cast<const char*>(values), count * sizeof *values);
}

// All that a result says; of tags from token ids no spans, which are numbers of tokens.
static std::string said(const model::Result& result, bool with_spans = true) {
    std::string out = std::to_string(result.tokens);
    model::each_head(result, [&](auto head, const auto& part) {
        constexpr etch::Task kTask = decltype(head)::kTask;
        out += std::to_string(part.tokens);
        if constexpr (kTask == etch::Task::tagging) {
            append(out, &part.count, with_spans ? 1 : 0);
            append(out, part.spans, with_spans ? part.count : 0);
        } else if constexpr (kTask == etch::Task::fill_mask) {
            append(out, &part.count, 1);
            append(out, part.candidates, 2 * part.count);
        } else if constexpr (kTask == etch::Task::regression) {
            append(out, part.value, decltype(head)::kWidth);
        } else {
            append(out, part.logits, decltype(head)::kWidth);
            append(out, &part.probability, 1);
        }
    });
    return out;
}

alignas(64) static std::uint8_t scratch[2 * model::kScratchBytes];

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    const std::vector<std::string_view> texts(lines.begin(), lines.end());
    std::vector<etch_text> c_texts;
    Room room;
    std::vector<std::string> alone;
    static_assert(sizeof(ETCH_C(result)) == sizeof(model::Result), "C and C++ agree");
    for (const std::string_view text : texts) {
        c_texts.push_back({text.data(), text.size()});
        model::Result result;
        room.give(result);
        CHECK(model::analyze(workspace, text, result) == etch::Status::ok);
        bool agree = true;
        model::each_head(result, [&](auto, const auto& part) {
            agree = agree && part.tokens == result.tokens && part.truncated == result.truncated;
        });
        CHECK(agree);
        alone.push_back(said(result));
        const std::string without_spans = said(result, false);

        for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{2000}, ~std::uint64_t{0}}) {
            model::Result in_steps;
            room.give(in_steps);
            CHECK(model::begin(workspace, text) == etch::Status::ok);
            etch::Status status = etch::Status::in_progress;
            while (status == etch::Status::in_progress)
                status = model::step(workspace, budget, in_steps);
            CHECK(status == etch::Status::ok && said(in_steps) == alone.back());
            CHECK(model::step(workspace, budget, in_steps) == etch::Status::not_begun);
        }

        model::Encoding encoding;
        CHECK(model::encode(workspace, text, encoding) == etch::Status::ok);
        model::Result of_ids;
        room.give(of_ids);
        CHECK(model::analyze_tokens(workspace, encoding.ids, nullptr, encoding.count, of_ids) == etch::Status::ok);
        CHECK(said(of_ids, false) == without_spans);

        const etch::Executor executor{3, nullptr, run_in_turn, scratch};
        workspace.executor = &executor;
        model::Result by_workers;
        room.give(by_workers);
        CHECK(model::analyze(workspace, text, by_workers) == etch::Status::ok && said(by_workers) == alone.back());
        workspace.executor = nullptr;

        model::Result of_c;
        room.give(of_c);
        ETCH_C(result) c_result;
        std::memcpy(&c_result, &of_c, sizeof c_result);
        CHECK(ETCH_C(analyze)(&c_workspace, text.data(), text.size(), &c_result) == ETCH_OK);
        std::memcpy(&of_c, &c_result, sizeof of_c);
        CHECK(said(of_c) == alone.back());

        // Without room: counted, not written.
        model::Result bare{};
        CHECK(model::analyze(workspace, text, bare) == etch::Status::ok);
    }
    std::vector<model::Result> results(texts.size());
    for (model::Result& result : results)
        room.give(result);
    CHECK(model::analyze_batch(workspace, texts.data(), texts.size(), results.data()) == etch::Status::ok);
    for (std::size_t i = 0; i < texts.size(); ++i)
        CHECK(said(results[i]) == alone[i]);
    for (model::Result& result : results)
        room.give(result);
    CHECK(ETCH_C(analyze_batch)(&c_workspace, c_texts.data(), c_texts.size(),
                                reinterpret_cast<ETCH_C(result)*>(results.data())) == ETCH_OK);
    for (std::size_t i = 0; i < texts.size(); ++i)
        CHECK(said(results[i]) == alone[i]);
    const std::string_view own{reinterpret_cast<const char*>(&workspace), 4};
    CHECK(model::analyze(workspace, own, results[0]) == etch::Status::text_overlaps);
    CHECK(model::self_test(workspace) == etch::Status::ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    return 0;
}
