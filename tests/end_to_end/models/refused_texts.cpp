// SPDX-License-Identifier: Apache-2.0
// Texts that every call refuses: of which the tokenizer, which adds no tokens, makes none; and lists of texts that lie
// where the call works. Of generative models: a text that is cut says so, at once and in steps. Behind a refusal the
// next call has the bits that it had before. The macros name the model, with OF_CLASSIFY, OF_ANSWER, OF_FILL_MASK or
// OF_TRANSLATE its task; the argument is a kernel.
#include "calls.hpp"

using etch::Status;

static constexpr std::string_view kText = "a cat";

// A list of these texts in the arena.
template <class List, std::size_t count>
static List* in_arena(std::uint8_t* arena, const List (&texts)[count]) {
    std::memcpy(arena, texts, sizeof texts);
    return reinterpret_cast<List*>(arena);
}

#if defined(OF_CLASSIFY) || defined(OF_FILL_MASK)
static model::Result results[64];
static ETCH_C(result) c_results[64];

#if defined(OF_CLASSIFY)
#define OF_C(suffix) ETCH_C(classify##suffix)
#else
#define OF_C(suffix) ETCH_C(fill_mask##suffix)
#endif

static int run() {
    model::Result& result = results[0];
    etch_text c_texts[64] = {};
    const std::string_view none[64] = {};
    const std::string_view second[] = {kText, "", kText};
    CHECK(model::ETCH_TASK()(workspace, "", result) == Status::no_tokens);
    CHECK(model::ETCH_TASK(_pair)(workspace, "", "", result) == Status::no_tokens);
    CHECK(model::ETCH_TASK(_pair)(workspace, "", kText, result) == Status::ok);
    CHECK(model::ETCH_TASK(_batch)(workspace, none, 64, results) == Status::no_tokens);
    CHECK(model::ETCH_TASK(_batch)(workspace, second, 3, results) == Status::no_tokens);
    CHECK(model::begin(workspace, "") == Status::no_tokens);
    CHECK(model::step(workspace, 1, result) == Status::not_begun);
    CHECK(model::begin_pair(workspace, "", "") == Status::no_tokens);
    CHECK(OF_C()(&c_workspace, "", 0, c_results) == ETCH_NO_TOKENS);
    CHECK(OF_C(_batch)(&c_workspace, c_texts, 64, c_results) == ETCH_NO_TOKENS);
    for (etch_text& text : c_texts)
        text = {kText.data(), kText.size()};
    CHECK(OF_C(_batch)(&c_workspace, in_arena(c_workspace.arena, c_texts), 64, c_results) == ETCH_TEXT_OVERLAPS);
    const std::string_view texts[] = {kText, kText};
    CHECK(model::ETCH_TASK(_batch)(workspace, in_arena(workspace.arena, texts), 2, results) == Status::text_overlaps);
#if defined(OF_FILL_MASK)
    etch::Score score{};
    CHECK(model::score(workspace, "", score) == Status::no_tokens);
    CHECK(model::begin_score(workspace, "") == Status::no_tokens);
    CHECK(model::step_score(workspace, 1, score) == Status::not_begun);
    CHECK(model::score(workspace, kText, score) == Status::ok);
    etch::Score scores[3] = {};
    CHECK(model::score_batch(workspace, second, 3, scores) == Status::no_tokens);
    CHECK(scores[0].tokens == score.tokens && scores[2].tokens == 0);
#endif
    return 0;
}
#endif

#if defined(OF_ANSWER)
static int run() {
    etch::AnswerSpan spans[2];
    model::Result results[3];
    for (model::Result& result : results) {
        result = {};
        result.answers = spans;
        result.capacity = 2;
    }
    const model::Question questions[] = {{kText, kText}, {"", ""}};
    CHECK(model::answer(workspace, "", "", results[0]) == Status::no_tokens);
    CHECK(model::answer(workspace, "", kText, results[0]) == Status::ok);
    CHECK(model::answer_batch(workspace, questions, 2, results) == Status::no_tokens);
    CHECK(model::answer_text(workspace, "", results[0]) == Status::no_tokens);
    CHECK(model::begin(workspace, "", "") == Status::ok);  // texts are read by the steps
    CHECK(model::step(workspace, 1, results[0]) == Status::no_tokens);
    CHECK(model::step(workspace, 1, results[0]) == Status::not_begun);
    etch_answer_span c_spans[2];
    ETCH_C(result) c_results[3] = {};
    for (ETCH_C(result) & result : c_results) {
        result.answers = c_spans;
        result.capacity = 2;
    }
    const etch_text text = {kText.data(), kText.size()};
    const ETCH_C(question) none = {};
    const ETCH_C(question) c_questions[] = {{text, text}, {text, text}};
    CHECK(ETCH_C(answer)(&c_workspace, "", 0, "", 0, c_results) == ETCH_NO_TOKENS);
    CHECK(ETCH_C(answer_batch)(&c_workspace, &none, 1, c_results) == ETCH_NO_TOKENS);
    CHECK(ETCH_C(answer_batch)(&c_workspace, c_questions, 2, c_results) == ETCH_OK);
    CHECK(ETCH_C(answer_batch)(&c_workspace, in_arena(c_workspace.arena, c_questions), 2, c_results) ==
          ETCH_TEXT_OVERLAPS);
    std::memcpy(c_results, c_questions, sizeof c_questions);
    CHECK(ETCH_C(answer_batch)(&c_workspace, reinterpret_cast<ETCH_C(question)*>(c_results), 2, c_results) ==
          ETCH_TEXT_OVERLAPS);
    return 0;
}
#endif

#if defined(OF_TRANSLATE)
constexpr std::size_t kRoom = 200;
static model::Result results[16];

// Results or what is written, where the call works: of texts and of tokens, at once and in steps.
static int batches_into_the_workspace() {
    static char targets[2][kRoom];
    static std::int32_t tokens[2][kRoom];
    auto* const own = workspace.arena;
    auto* const own_results = reinterpret_cast<model::Result*>(own);
    const std::string_view texts[] = {kText, kText};
    const auto refused = Status::text_overlaps;
    const auto of_texts = [&](char* to, model::Result* all) {
        return model::translate_batch(workspace, texts, 2, to, kRoom, all);
    };
    CHECK(of_texts(reinterpret_cast<char*>(own), results) == refused);
    CHECK(of_texts(targets[0], own_results) == refused);
    CHECK(of_texts(targets[0], reinterpret_cast<model::Result*>(const_cast<std::string_view*>(texts))) == refused);
    std::uint32_t taken = 0;
    for (const bool told : {false, true}) {
        CHECK(model::begin_batch(workspace, texts, 2, 0, taken) == Status::ok && taken != 0);
        CHECK(model::step_batch(workspace, 1, told ? targets[0] : reinterpret_cast<char*>(own), kRoom,
                                told ? own_results : results) == refused);
    }

    static model::Encoding encoding;
    CHECK(model::encode(workspace, kText, encoding) == Status::ok);
    const std::uint32_t begins[] = {0, encoding.count};
    const auto of_tokens = [&](std::int32_t* to, model::Result* all) {
        return model::translate_tokens_batch(workspace, encoding.ids, begins, 1, to, kRoom, all);
    };
    CHECK(of_tokens(reinterpret_cast<std::int32_t*>(own), results) == refused);
    CHECK(of_tokens(tokens[0], own_results) == refused);
    CHECK(of_tokens(tokens[0], reinterpret_cast<model::Result*>(encoding.ids)) == refused);
    CHECK(of_tokens(encoding.ids, results) == refused);
    auto* const own_ids = reinterpret_cast<std::int32_t*>(own);
    std::memcpy(own_ids, encoding.ids, sizeof *own_ids);
    CHECK(model::translate_tokens_batch(workspace, own_ids, begins, 1, tokens[0], kRoom, results) == refused);
    CHECK(of_tokens(tokens[0], results) == Status::ok);
    CHECK(model::begin_tokens_batch(workspace, encoding.ids, begins, 1, 0, taken) == Status::ok && taken == 1);
    CHECK(model::step_tokens_batch(workspace, ~std::uint64_t{0}, tokens[1], kRoom, results + 1) == Status::ok);
    CHECK(results[1].count == results[0].count);
    for (const bool told : {false, true}) {
        CHECK(model::begin_tokens_batch(workspace, encoding.ids, begins, 1, 0, taken) == Status::ok && taken == 1);
        CHECK(model::step_tokens_batch(workspace, 1, told ? tokens[0] : reinterpret_cast<std::int32_t*>(own), kRoom,
                                       told ? own_results : results) == refused);
    }
    return 0;
}

static int run() {
    static char targets[16][kRoom];
    static ETCH_C(result) c_results[16];
    static etch_text c_texts[16] = {};
    static const std::string_view none[16] = {};
    const std::string_view second[] = {kText, "", kText};
    const etch::Sampling sampling{1, 0, 1.0f, 0, 1.0f};
    for (const etch::Sampling* const drawn : {static_cast<const etch::Sampling*>(nullptr), &sampling}) {
        workspace.sampling = drawn;
        for (const std::uint8_t beams : {std::uint8_t{0}, std::uint8_t{1}}) {
            workspace.beams = beams;
            std::uint32_t taken = 9;
            CHECK(model::translate(workspace, "", targets[0], kRoom, results[0]) == Status::no_tokens);
            CHECK(model::translate_batch(workspace, none, 16, targets[0], kRoom, results) == Status::no_tokens);
            CHECK(model::translate_batch(workspace, second, 3, targets[0], kRoom, results) == Status::no_tokens);
            CHECK(model::begin(workspace, "") == Status::no_tokens);
            CHECK(model::step(workspace, 1, targets[0], kRoom, results[0]) == Status::not_begun);
            CHECK(model::next(workspace, targets[0], kRoom, results[0]) == Status::not_begun);
            CHECK(model::begin_batch(workspace, none, 16, 3, taken) == Status::no_tokens);
            CHECK(taken == 0);
            CHECK(model::step_batch(workspace, 1, targets[0], kRoom, results) == Status::not_begun);

            const std::string_view texts[] = {kText, kText, kText};
            std::string_view* const list = in_arena(workspace.arena, texts);
            CHECK(model::translate_batch(workspace, list, 3, targets[0], kRoom, results) == Status::text_overlaps);
            CHECK(model::begin_batch(workspace, in_arena(workspace.arena, texts), 3, 0, taken) ==
                  Status::text_overlaps);
            CHECK(taken == 0);
            CHECK(model::step_batch(workspace, 1, targets[0], kRoom, results) == Status::not_begun);
            CHECK(batches_into_the_workspace() == 0);

            std::string longer;
            while (longer.size() < 4096)
                longer += kText;
            for (const std::string_view text : {kText, std::string_view(longer)}) {
                const bool is_cut = text.size() > kText.size();
                CHECK(model::translate(workspace, text, targets[0], kRoom, results[0]) == Status::ok);
                CHECK(results[0].truncated == is_cut);
                CHECK(model::begin(workspace, text) == Status::ok);
                Status status;
                while ((status = model::step(workspace, 1U << 30, targets[0], kRoom, results[1])) ==
                       Status::in_progress) {
                }
                CHECK(status == Status::ok && results[1].truncated == is_cut);
                CHECK(results[1].tokens == results[0].tokens);
            }
        }
    }
    std::uint32_t taken = 9;
    CHECK(ETCH_C(translate)(&c_workspace, "", 0, targets[0], kRoom, c_results) == ETCH_NO_TOKENS);
    CHECK(ETCH_C(translate_batch)(&c_workspace, c_texts, 16, targets[0], kRoom, c_results) == ETCH_NO_TOKENS);
    CHECK(ETCH_C(begin)(&c_workspace, "", 0) == ETCH_NO_TOKENS);
    CHECK(ETCH_C(begin_batch)(&c_workspace, c_texts, 16, 0, &taken) == ETCH_NO_TOKENS);
    for (etch_text& text : c_texts)
        text = {kText.data(), kText.size()};
    CHECK(ETCH_C(translate_batch)(&c_workspace, in_arena(c_workspace.arena, c_texts), 16, targets[0], kRoom,
                                  c_results) == ETCH_TEXT_OVERLAPS);
    CHECK(ETCH_C(begin_batch)(&c_workspace, in_arena(c_workspace.arena, c_texts), 16, 0, &taken) == ETCH_TEXT_OVERLAPS);
    return 0;
}
#endif

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    CHECK(run() == 0);
    model::Encoding encoding;
    CHECK(model::encode(workspace, "", encoding) == Status::ok && encoding.count == 0);
    CHECK(model::self_test(workspace) == Status::ok);
    return 0;
}
