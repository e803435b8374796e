// SPDX-License-Identifier: Apache-2.0
// A call in steps gives the bits of a plain one, whatever the budgets: on every kernel, for texts, pairs and token ids,
// beside other sessions, begun again, with other calls in between. Exit code 0 where all that holds, for the default
// model or the one that the macros name.
#if !defined(ETCH_MODEL_HEADER)
#define ETCH_MODEL_HEADER <agnews.hpp>
#define ETCH_MODEL agnews
#define ETCH_TASK(suffix) classify##suffix
#endif
#if !defined(ETCH_LEAST_STEPS)
#define ETCH_LEAST_STEPS 20
#endif
#include ETCH_MODEL_HEADER

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include "texts.hpp"

namespace {

using namespace etch;
namespace model = etch::ETCH_MODEL;

static_assert(offsetof(model::Workspace, arena) == 64, "the cursor lies where nothing else would");

constexpr std::uint64_t kEverything = ~std::uint64_t{0};
constexpr std::uint64_t kMostSteps = 100'000;            // of one call: it would never end
constexpr std::uint64_t kLeastSteps = ETCH_LEAST_STEPS;  // that a call of the smallest budgets takes more than

std::mt19937 generator(1);  // NOLINT(cert-msc51-cpp): the same budgets every time
std::uint64_t steps_seen = 0;
int failures = 0;

void expect(bool holds, const char* what) {
    if (!holds && ++failures <= 10) std::printf("not so: %s\n", what);
}

// Between 1 and 2^20, small ones as often as large ones.
std::uint64_t random_budget() {
    const unsigned bits = 1 + static_cast<unsigned>(generator() % 20);
    return 1 + generator() % (std::uint64_t{1} << bits);
}

// All bytes of it: those that no call writes, too.
struct Answer {
    Answer() { std::memset(static_cast<void*>(&result), 0x5C, sizeof result); }
    bool operator==(const Answer& other) const { return std::memcmp(&result, &other.result, sizeof result) == 0; }
    model::Result result;
};

// Steps to the end of what was begun.
template <class Budget>
bool finish(model::Workspace& workspace, Answer& answer, std::uint64_t& steps, const Budget& budget) {
    for (steps = 1; steps < kMostSteps; ++steps) {
        const Status status = model::step(workspace, budget(), answer.result);
        if (status == Status::ok) break;
        if (status != Status::in_progress) return false;
        if (!(answer == Answer())) return false;  // written before the last step
    }
    steps_seen += steps;
    return model::step(workspace, kEverything, answer.result) == Status::not_begun;
}

// What begins a call, and the plain call that it stands for.
struct Call {
    std::function<Status(model::Workspace&)> begin;
    std::function<Status(model::Workspace&, model::Result&)> plain;
};

Call text_call(std::string_view text) {
    return {[=](model::Workspace& w) { return model::begin(w, text); },
            [=](model::Workspace& w, model::Result& result) { return model::ETCH_TASK()(w, text, result); }};
}

Call pair_call(std::string_view a, std::string_view b) {
    return {[=](model::Workspace& w) { return model::begin_pair(w, a, b); },
            [=](model::Workspace& w, model::Result& result) { return model::ETCH_TASK(_pair)(w, a, b, result); }};
}

Call tokens_call(const model::Encoding& tokens, std::uint32_t count) {
    return {[=, &tokens](model::Workspace& w) { return model::begin_tokens(w, tokens.ids, tokens.segments, count); },
            [=, &tokens](model::Workspace& w, model::Result& result) {
                return model::ETCH_TASK(_tokens)(w, tokens.ids, tokens.segments, count, result);
            }};
}

// With one budget for all steps, and one drawn for each.
void check_budgets(model::Workspace& workspace, model::Workspace& other, const Call& call, bool every_unit) {
    Answer expected;
    const Status status = call.plain(other, expected.result);
    std::uint64_t most = kEverything;  // steps that a smaller budget took
    for (const std::uint64_t budget :
         {std::uint64_t{1}, std::uint64_t{30'000}, std::uint64_t{1'000'000}, kEverything}) {
        if (budget == 1 && !every_unit) continue;
        std::memset(workspace.arena, static_cast<int>(generator() % 256), sizeof workspace.arena);
        Answer answer;
        std::uint64_t steps = 0;
        expect(call.begin(workspace) == status, "begin() refuses what a plain call refuses");
        if (status != Status::ok) {
            expect(model::step(workspace, budget, answer.result) == Status::not_begun, "nothing was begun");
            continue;
        }
        expect(finish(workspace, answer, steps, [&] { return budget; }), "it comes to an end");
        expect(answer == expected, "the bits of a plain call, with one budget");
        expect(steps <= most, "a larger budget takes no more steps");
        expect(budget > 1 || steps > kLeastSteps, "a step is a unit at least, and no more than it can afford");
        expect(budget != kEverything || steps == 1, "everything at once");
        most = steps;
    }
    if (status != Status::ok) return;
    Answer answer;
    std::uint64_t steps = 0;
    call.begin(workspace);
    expect(finish(workspace, answer, steps, random_budget) && answer == expected, "the same with random budgets");
}

// Two sessions that take turns.
void check_interleaved(model::Workspace& one, model::Workspace& two, std::string_view a, std::string_view b) {
    Answer expected[2];
    Answer answers[2];
    model::Workspace* const sessions[2] = {&one, &two};
    Status status[2] = {Status::in_progress, Status::in_progress};
    model::ETCH_TASK()(one, a, expected[0].result);
    model::ETCH_TASK()(one, b, expected[1].result);
    expect(model::begin(one, a) == Status::ok && model::begin(two, b) == Status::ok, "both begin");
    while (status[0] == Status::in_progress || status[1] == Status::in_progress) {
        const std::size_t turn = generator() % 2;
        if (status[turn] != Status::in_progress) continue;
        status[turn] = model::step(*sessions[turn], random_budget(), answers[turn].result);
    }
    expect(status[0] == Status::ok && answers[0] == expected[0], "the first of two sessions");
    expect(status[1] == Status::ok && answers[1] == expected[1], "the second of two sessions");
}

// A call that is interrupted anywhere by something else on the same workspace.
class Interrupted {
  public:
    Interrupted(model::Workspace& workspace, std::string_view text) : workspace_(workspace), text_(text) {
        model::ETCH_TASK()(workspace, text, expected_.result);
        Answer answer;
        model::begin(workspace, text);
        expect(finish(workspace, answer, steps_, [] { return std::uint64_t{1}; }), "it comes to an end");
    }

    template <class What>
    void ends_with(const What& what) {
        Answer answer;
        begin(answer);
        what();
        expect(model::step(workspace_, kEverything, answer.result) == Status::not_begun, "another call ends it");
        expect(answer == Answer(), "nothing is written then");
    }

    template <class What>
    void survives(const What& what) {
        Answer answer;
        std::uint64_t steps = 0;
        begin(answer);
        what();
        expect(finish(workspace_, answer, steps, random_budget), "it goes on to its end");
        expect(answer == expected_, "what does not compute does no harm");
    }

  private:
    // Somewhere before the last step.
    void begin(Answer& answer) {
        expect(model::begin(workspace_, text_) == Status::ok, "it begins");
        for (std::uint64_t step = generator() % steps_; step > 0; --step)
            model::step(workspace_, 1, answer.result);
    }

    model::Workspace& workspace_;
    std::string_view text_;
    Answer expected_;
    std::uint64_t steps_ = 0;
};

void check_calls_between(model::Workspace& workspace, std::string_view text) {
    Answer ignored;
    static model::Encoding encoding;
    char piece[8];
    const std::int32_t wrong = -1;
    const std::string_view another = "another text, of other words";
    Interrupted call(workspace, text);
    call.ends_with([&] { model::ETCH_TASK()(workspace, another, ignored.result); });
    call.ends_with([&] { model::ETCH_TASK(_pair)(workspace, another, text, ignored.result); });
    call.ends_with([&] { model::ETCH_TASK(_batch)(workspace, &another, 1, &ignored.result); });
    call.ends_with([&] { model::ETCH_TASK(_tokens)(workspace, &wrong, nullptr, 1, ignored.result); });
    call.ends_with([&] { model::begin_tokens(workspace, &wrong, nullptr, 1); });
    call.ends_with([&] { model::ETCH_TASK(_batch)(workspace, nullptr, 0, nullptr); });
    call.ends_with([&] { model::encode(workspace, another, encoding); });
    call.ends_with([&] { model::encode_pair(workspace, another, text, encoding); });
    call.ends_with([&] { model::self_test(workspace); });
    call.survives([&] { model::kernel(workspace); });
    call.survives([&] { model::usable_kernel(0); });
    call.survives([&] { model::piece(1, piece, sizeof piece); });
    call.survives([&] { workspace.special_tokens = SpecialTokens::plain_text; });
    workspace.special_tokens = SpecialTokens::recognized;
    for (int i = 0; i < 10; ++i) {  // in the middle of rows that the first one has encoded, too
        call.survives([&] { model::select_kernel(workspace, "scalar"); });
        call.survives([&] { model::select_kernel(workspace, model::usable_kernel(0)); });
    }
    call.survives([&] {  // begun again: the first text is forgotten
        model::begin(workspace, another);
        model::step(workspace, 100'000, ignored.result);
        model::begin(workspace, text);
    });
}

}  // namespace

int main() {
    const auto one = std::make_unique<model::Workspace>();
    const auto two = std::make_unique<model::Workspace>();
    static model::Encoding tokens;
    const std::string_view longest = promises::kLongText.view();
    Answer nothing;
    expect(model::step(*one, kEverything, nothing.result) == Status::not_begun, "no step without begin()");
    if (model::encode(*one, longest, tokens) != Status::ok) return 1;

    // Steps are the calling thread's alone.
    static int forks = 0;
    const auto count = [](void*, void (*task)(void*, std::uint32_t), void* argument) noexcept {
        ++forks;
        task(argument, 0);
        task(argument, 1);
    };
    static std::uint8_t scratch alignas(64)[model::kScratchBytes];
    const Executor executor{2, nullptr, count, scratch};
    one->executor = &executor;

    std::size_t kernels = 0;
    for (; !model::usable_kernel(kernels).empty(); ++kernels) {
        model::select_kernel(*one, model::usable_kernel(kernels));
        model::select_kernel(*two, model::usable_kernel(kernels));
        for (const std::string_view text : promises::kShortTexts)
            check_budgets(*one, *two, text_call(text), true);
        check_budgets(*one, *two, text_call(promises::kMiddleText), true);
        check_budgets(*one, *two, pair_call("two texts", promises::kMiddleText), kernels == 0);
        check_budgets(*one, *two, tokens_call(tokens, 0), false);
        for (const std::uint32_t count : {1u, 2u, 15u, 16u, 17u, model::kMaxTokens - 1, model::kMaxTokens}) {
            if (count <= (kernels == 0 ? tokens.count : 17))
                check_budgets(*one, *two, tokens_call(tokens, count), false);
        }
        if (kernels == 0) check_budgets(*one, *two, text_call(longest), true);  // slow on the others
    }
    expect(forks == 0, "no executor is asked");
    one->executor = nullptr;
    model::select_kernel(*one, model::usable_kernel(0));
    model::select_kernel(*two, model::usable_kernel(0));
    check_interleaved(*one, *two, promises::kMiddleText, "a shorter one");
    check_interleaved(*one, *two, promises::kShortTexts[4], promises::kMiddleText);
    check_calls_between(*one, promises::kMiddleText);
    std::printf("%zu kernels, %llu steps: %s\n", kernels, static_cast<unsigned long long>(steps_seen),
                failures == 0 ? "same bits" : "wrong");
    return failures == 0 && steps_seen > 0 ? 0 : 1;
}
