// SPDX-License-Identifier: Apache-2.0
// The calls of a head that answers questions, `of_answers`, beside one that classifies, `of_single`, on each line of
// standard input as a context: batches, steps of any budget, workers and the C functions give what answer() gives, and
// what all heads make of a text stays as it is; a call in steps goes on as what it was begun. Exit code 0 where they
// do; else the line of the first check that does not hold. The argument names the kernels.
#include "calls.hpp"

namespace head = model::of_answers;

constexpr std::uint32_t kRoom = 500;
constexpr std::uint64_t kBudgets[] = {1, 5000, ~std::uint64_t{0}};

// A result of C++ or C with room for answers.
template <class Result, class Span>
struct Asked {
    std::vector<Span> answers = std::vector<Span>(kRoom);
    Result result{};

    explicit Asked(const etch::AnswerOptions& options) {
        result.answers = answers.data();
        result.capacity = kRoom;
        std::memcpy(&result.options, &options, sizeof options);
    }

    template <class Other>
    bool says(const Other& other) const {
        return result.count == other.result.count && result.windows == other.result.windows &&
               result.tokens == other.result.tokens && result.truncated == other.result.truncated &&
               std::memcmp(answers.data(), other.answers.data(), result.count * sizeof(Span)) == 0;
    }

    bool has_logits_of(const Result& other) const {
        return std::memcmp(result.logits, other.logits, result.tokens * head::kEnds * sizeof(float)) == 0;
    }
};
using Answered = Asked<head::Result, etch::AnswerSpan>;
using AnsweredInC = Asked<ETCH_C(of_answers_result), etch_answer_span>;

// Steps until the call ends.
template <class Step>
etch::Status finished(const Step& step) {
    etch::Status status = etch::Status::in_progress;
    while (status == etch::Status::in_progress)
        status = step();
    return status;
}

static bool same(const model::Result& a, const model::Result& b) {
    return a.tokens == b.tokens && std::memcmp(a.of_single.logits, b.of_single.logits, sizeof a.of_single.logits) == 0;
}

alignas(64) static std::uint8_t scratch[2 * model::kScratchBytes];

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    const std::string_view question = "what cats";
    const auto ok = etch::Status::ok;
    const auto not_begun = etch::Status::not_begun;
    std::uint32_t windows = 0;
    for (const etch::AnswerOptions& options : {etch::AnswerOptions{}, etch::AnswerOptions{4, 24, 3, 5, true, true}}) {
        std::vector<head::Question> questions;
        std::vector<Answered> alone;
        for (const std::string& context : lines) {
            model::Result all{};
            CHECK(model::analyze(workspace, context, all) == ok);
            Answered answered(options);
            CHECK(head::answer(workspace, question, context, answered.result) == ok);
            CHECK(answered.result.windows >= 1 && answered.result.count != 0);
            windows += answered.result.windows;
            questions.push_back({question, context});

            const etch::Executor executor{3, nullptr, run_in_turn, scratch};
            workspace.executor = &executor;
            Answered by_workers(options);
            CHECK(head::answer(workspace, question, context, by_workers.result) == ok && by_workers.says(answered));
            workspace.executor = nullptr;

            AnsweredInC of_c(options);
            CHECK(ETCH_C(of_answers_answer)(&c_workspace, question.data(), question.size(), context.data(),
                                            context.size(), &of_c.result) == ETCH_OK);
            CHECK(of_c.result.count == answered.result.count && of_c.result.tokens == answered.result.tokens);
            CHECK(std::memcmp(of_c.answers.data(), answered.answers.data(),
                              of_c.result.count * sizeof(etch_answer_span)) == 0);

            for (const std::uint64_t budget : kBudgets) {
                Answered stepped(options);
                CHECK(head::begin(workspace, question, context) == ok);
                CHECK(finished([&] { return head::step(workspace, budget, stepped.result); }) == ok);
                CHECK(stepped.says(answered) && head::step(workspace, budget, stepped.result) == not_begun);

                AnsweredInC c_stepped(options);
                CHECK(ETCH_C(of_answers_begin)(&c_workspace, question.data(), question.size(), context.data(),
                                               context.size()) == ETCH_OK);
                CHECK(finished([&] {
                          return static_cast<etch::Status>(
                              ETCH_C(of_answers_step)(&c_workspace, budget, &c_stepped.result));
                      }) == ok);
                CHECK(c_stepped.says(of_c));

                // What was begun as a question is no text.
                model::Result none{};
                CHECK(head::begin(workspace, question, context) == ok);
                CHECK(budget != 1 || head::step(workspace, budget, stepped.result) == etch::Status::in_progress);
                CHECK(model::step(workspace, budget, none) == not_begun);
                CHECK(head::step(workspace, budget, stepped.result) == not_begun);
                CHECK(model::step(workspace, budget, none) == not_begun);

                model::Result in_steps{};
                CHECK(model::begin(workspace, context) == ok);
                CHECK(finished([&] { return model::step(workspace, budget, in_steps); }) == ok);
                CHECK(same(in_steps, all));
            }

            // One window: the same of a text and of its ids, at once and in steps, whichever way they were begun.
            Answered of_text(options);
            CHECK(head::answer_text(workspace, context, of_text.result) == ok && of_text.result.windows == 1);
            const std::vector<float> logits(of_text.result.logits,
                                            of_text.result.logits + of_text.result.tokens * head::kEnds);
            of_text.result.logits = logits.data();
            model::Encoding encoding;
            CHECK(model::encode(workspace, context, encoding) == ok);
            Answered of_ids(options);
            CHECK(head::answer_tokens(workspace, encoding.ids, nullptr, encoding.count, of_ids.result) == ok);
            CHECK(of_ids.result.tokens == of_text.result.tokens && of_ids.has_logits_of(of_text.result));
            Answered in_steps(options);
            CHECK(model::begin(workspace, context) == ok);
            CHECK(finished([&] { return head::step(workspace, 5000, in_steps.result); }) == ok);
            CHECK(in_steps.says(of_text) && in_steps.has_logits_of(of_text.result));
            model::Result of_tokens{};
            CHECK(head::begin_tokens(workspace, encoding.ids, nullptr, encoding.count) == ok);
            CHECK(finished([&] { return model::step(workspace, 5000, of_tokens); }) == ok && same(of_tokens, all));
            AnsweredInC c_ids(options);
            CHECK(ETCH_C(of_answers_answer_tokens)(&c_workspace, encoding.ids, nullptr, encoding.count,
                                                   &c_ids.result) == ETCH_OK);
            CHECK(c_ids.result.tokens == encoding.count);
            CHECK(ETCH_C(of_answers_answer_text)(&c_workspace, context.data(), context.size(), &c_ids.result) ==
                  ETCH_OK);
            CHECK(ETCH_C(of_answers_begin_tokens)(&c_workspace, encoding.ids, nullptr, encoding.count) == ETCH_OK);
            CHECK(finished([&] {
                      return static_cast<etch::Status>(ETCH_C(of_answers_step)(&c_workspace, 5000, &c_ids.result));
                  }) == ok);

            const std::string_view inside(reinterpret_cast<const char*>(workspace.arena), 8);
            CHECK(head::answer(workspace, question, inside, of_ids.result) == etch::Status::text_overlaps);
            alone.push_back(answered);
        }
        std::vector<Answered> batch(lines.size(), Answered(options));
        std::vector<head::Result> results;
        for (Answered& each : batch) {
            each.result.answers = each.answers.data();
            results.push_back(each.result);
        }
        CHECK(head::answer_batch(workspace, questions.data(), questions.size(), results.data()) == ok);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            batch[i].result = results[i];
            CHECK(batch[i].says(alone[i]) && results[i].logits == nullptr);
        }
        const etch_text c_question{question.data(), question.size()};
        const ETCH_C(of_answers_question) c_asked{c_question, {lines[0].data(), lines[0].size()}};
        AnsweredInC c_batch(options);
        CHECK(ETCH_C(of_answers_answer_batch)(&c_workspace, &c_asked, 1, &c_batch.result) == ETCH_OK);
        CHECK(c_batch.result.count == alone[0].result.count);
    }
    CHECK(windows > 2 * lines.size());
    {
        const InUse another;
        Answered answered({});
        CHECK(head::answer(workspace, question, lines[0], answered.result) == etch::Status::workspace_in_use);
        model::Result none{};
        CHECK(model::step(workspace, 1, none) == etch::Status::workspace_in_use);
    }
    CHECK(model::self_test(workspace) == ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    return 0;
}
