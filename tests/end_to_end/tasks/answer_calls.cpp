// SPDX-License-Identifier: Apache-2.0
// The calls of a model that answers questions on each line of standard input as a context: batches, steps of any budget
// and the C functions give what answer() gives; of token ids the logits are the same; whatever the capacity, nothing is
// written behind it. Exit code 0 where they do; else the line of the first check that does not hold. The argument names
// the kernels. The model is the one that the macros name.
#include "calls.hpp"

constexpr std::uint32_t kRoom = 500;

static model::Result empty(std::vector<etch::AnswerSpan>& answers, const etch::AnswerOptions& options) {
    model::Result result{};
    result.answers = answers.data();
    result.capacity = static_cast<std::uint32_t>(answers.size());
    result.options = options;
    return result;
}

static bool same(const etch::AnswerSpan* a, const etch::AnswerSpan* b, std::uint32_t count) {
    return std::memcmp(a, b, count * sizeof *a) == 0;
}

// A batch whose list, or one of its texts, lies where the call writes: refused, wherever the first byte of it is.
static int overlapping_batches(std::string_view question, std::string_view context) {
    const auto refused = etch::Status::text_overlaps;
    const model::Question asked{question, context};
    std::vector<model::Result> results(3);
    const std::string_view inside[] = {{reinterpret_cast<const char*>(workspace.arena) + 64, 8},
                                       {reinterpret_cast<const char*>(results.data() + results.size()) - 8, 8}};
    for (const std::string_view text : inside) {
        for (const model::Question& one : {model::Question{question, text}, model::Question{text, context}}) {
            for (const std::size_t place : {0, 2}) {
                model::Question questions[] = {asked, asked, asked};
                questions[place] = one;
                CHECK(model::answer_batch(workspace, questions, 3, results.data()) == refused);
            }
        }
    }
    // The third question, which the first result would be written over.
    std::vector<model::Result> memory(2 + (3 * sizeof asked) / sizeof(model::Result) + 3);
    auto* const questions = reinterpret_cast<model::Question*>(memory.data());
    for (int i = 0; i < 3; ++i)
        std::memcpy(static_cast<void*>(questions + i), &asked, sizeof asked);
    auto* const behind = reinterpret_cast<model::Result*>(questions + 2);
    CHECK(model::answer_batch(workspace, questions, 3, behind) == refused);
    auto* const in_arena = reinterpret_cast<model::Question*>(workspace.arena);
    std::memcpy(static_cast<void*>(in_arena), &asked, sizeof asked);
    CHECK(model::answer_batch(workspace, in_arena, 1, results.data()) == refused);
    CHECK(model::answer_batch(workspace, nullptr, 0, nullptr) == etch::Status::ok);
    return 0;
}

// Texts of 4 GiB, of which nothing is read: they are on the stack, behind all that a call writes.
static int long_texts(std::string_view question) {
    const char text[] = "a cat";
    const std::string_view longest(text, 0xFFFFFFFE);
    const std::string_view longer(text, 0xFFFFFFFF);
    CHECK(model::begin(workspace, longer, question) == etch::Status::text_too_long);
    CHECK(model::begin(workspace, question, longer) == etch::Status::text_too_long);
    CHECK(model::begin(workspace, question, longest) == etch::Status::ok);
    model::Result result{};
    CHECK(model::answer(workspace, question, longer, result) == etch::Status::text_too_long);
    CHECK(model::step(workspace, 1, result) == etch::Status::not_begun);
    return 0;
}

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    const std::string_view question = "what cats";
    for (const etch::AnswerOptions& options : {etch::AnswerOptions{}, etch::AnswerOptions{4, 24, 3, 5, true, true}}) {
        std::vector<std::vector<etch::AnswerSpan>> alone;
        std::vector<model::Question> questions;
        std::uint32_t windows = 0;
        for (const std::string& context : lines) {
            std::vector<etch::AnswerSpan> answers(kRoom);
            model::Result result = empty(answers, options);
            CHECK(model::answer(workspace, question, context, result) == etch::Status::ok);
            CHECK(result.count <= (options.top == 0 ? 1 : options.top) && result.windows >= 1);
            windows += result.windows;
            for (std::uint32_t i = 0; i < result.count; ++i)
                CHECK(answers[i].begin <= answers[i].end && answers[i].end <= context.size());
            alone.emplace_back(answers.begin(), answers.begin() + result.count);
            questions.push_back({question, context});

            for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{5000}, ~std::uint64_t{0}}) {
                std::vector<etch::AnswerSpan> stepped(kRoom);
                model::Result in_steps = empty(stepped, options);
                CHECK(model::begin(workspace, question, context) == etch::Status::ok);
                std::uint32_t steps = 1;
                etch::Status status = model::step(workspace, budget, in_steps);
                for (; status == etch::Status::in_progress; ++steps)
                    status = model::step(workspace, budget, in_steps);
                CHECK(status == etch::Status::ok && in_steps.count == result.count && steps >= result.windows);
                CHECK(in_steps.windows == result.windows && in_steps.tokens == result.tokens);
                CHECK(same(stepped.data(), answers.data(), result.count));
                CHECK(model::step(workspace, budget, in_steps) == etch::Status::not_begun);
            }

            std::vector<etch_answer_span> c_answers(kRoom);
            ETCH_C(result) c_result = {};
            c_result.answers = c_answers.data();
            c_result.capacity = kRoom;
            std::memcpy(&c_result.options, &options, sizeof options);
            CHECK(ETCH_C(answer)(&c_workspace, question.data(), question.size(), context.data(), context.size(),
                                 &c_result) == ETCH_OK);
            CHECK(c_result.count == result.count && c_result.tokens == result.tokens);
            CHECK(std::memcmp(c_answers.data(), answers.data(), result.count * sizeof answers[0]) == 0);

            for (const std::uint32_t capacity : {0U, 1U, 3U}) {
                std::vector<etch::AnswerSpan> few(capacity + 1, etch::AnswerSpan{-7.0F, 77, 77});
                model::Result cut = empty(few, options);
                cut.capacity = capacity;
                CHECK(model::answer(workspace, question, context, cut) == etch::Status::ok);
                CHECK(cut.count <= capacity && few[capacity].begin == 77);
            }

            // Of ids the same logits; answers are numbers of tokens, between the last two special ones.
            model::Encoding encoding;
            CHECK(model::encode_pair(workspace, question, context, encoding) == etch::Status::ok);
            if (!encoding.truncated && result.windows == 1) {
                CHECK(model::answer(workspace, question, context, result) == etch::Status::ok);
                const std::vector<float> logits(result.logits, result.logits + result.tokens * model::kEnds);
                std::vector<etch::AnswerSpan> of_ids(kRoom);
                model::Result ids = empty(of_ids, options);
                CHECK(model::answer_tokens(workspace, encoding.ids, encoding.segments, encoding.count, ids) ==
                      etch::Status::ok);
                CHECK(ids.windows == 1 && ids.tokens == encoding.count);
                CHECK(std::memcmp(ids.logits, logits.data(), logits.size() * sizeof(float)) == 0);
                for (std::uint32_t i = 0; i < ids.count; ++i)
                    CHECK(of_ids[i].end <= ids.tokens);
            }
            const std::string_view inside(reinterpret_cast<const char*>(workspace.arena), 8);
            CHECK(model::answer(workspace, question, inside, result) == etch::Status::text_overlaps);
            CHECK(model::begin(workspace, inside, context) == etch::Status::text_overlaps);
        }
        CHECK(windows > lines.size());
        std::vector<std::vector<etch::AnswerSpan>> rooms(lines.size(), std::vector<etch::AnswerSpan>(kRoom));
        std::vector<model::Result> results;
        for (std::vector<etch::AnswerSpan>& room : rooms)
            results.push_back(empty(room, options));
        CHECK(model::answer_batch(workspace, questions.data(), questions.size(), results.data()) == etch::Status::ok);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            CHECK(results[i].count == alone[i].size() && results[i].logits == nullptr);
            CHECK(same(rooms[i].data(), alone[i].data(), results[i].count));
        }
    }
    {
        const InUse another;
        const auto away = etch::Status::workspace_in_use;
        std::vector<etch::AnswerSpan> answers(kRoom);
        model::Result result = empty(answers, {});
        const model::Question asked{question, lines[0]};
        CHECK(model::answer(workspace, question, lines[0], result) == away);
        CHECK(model::answer_batch(workspace, &asked, 1, &result) == away);
        CHECK(model::answer_text(workspace, lines[0], result) == away);
        CHECK(model::begin(workspace, question, lines[0]) == away);
        CHECK(model::step(workspace, 1, result) == away);
        CHECK(model::self_test(workspace) == away);
    }
    CHECK(overlapping_batches(question, lines[0]) == 0);
    CHECK(long_texts(question) == 0);
    CHECK(model::self_test(workspace) == etch::Status::ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    return 0;
}
