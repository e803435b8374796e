// SPDX-License-Identifier: Apache-2.0
// One workspace that is used twice at once: each call has its turn alone or is sent away with workspace_in_use, and
// what it answers has the bits that it has alone. First from within a call, as an interrupt would come, then from
// several threads; built once more under ThreadSanitizer. Exit code 0 where they do.
#include <agnews.h>

#include <agnews.hpp>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

using namespace etch;

constexpr std::string_view kText = "Oil prices climb after the [SEP] summit, and the striker scored twice";
#if defined(ETCH_SANITIZED)
constexpr int kRounds = 10;  // the sanitizer is slow
#else
constexpr int kRounds = 100;
#endif

agnews::Workspace workspace;
agnews::Result expected;

bool same(const agnews::Result& a, const agnews::Result& b) {
    return a.label == b.label && a.tokens == b.tokens && a.truncated == b.truncated &&
           std::memcmp(a.logits, b.logits, sizeof a.logits) == 0 &&
           std::memcmp(a.probability, b.probability, sizeof a.probability) == 0;
}

// Every function that takes a workspace, and that none changes it.
bool all_are_sent_away() {
    const std::int32_t id = 1;
    agnews::Result result{};
    static agnews::Encoding encoding;
    const auto is_away = [](Status status) { return status == Status::workspace_in_use; };
    const auto c = [] { return reinterpret_cast<etch_agnews_workspace*>(&workspace); };
    etch_agnews_result c_result{};
    return is_away(agnews::classify(workspace, kText, result)) &&
           is_away(agnews::classify_pair(workspace, kText, kText, result)) &&
           is_away(agnews::classify_batch(workspace, &kText, 1, &result)) &&
           is_away(agnews::classify_tokens(workspace, &id, nullptr, 1, result)) &&
           is_away(agnews::begin(workspace, kText)) && is_away(agnews::begin_pair(workspace, kText, kText)) &&
           is_away(agnews::begin_tokens(workspace, &id, nullptr, 1)) && is_away(agnews::step(workspace, 1, result)) &&
           is_away(agnews::encode(workspace, kText, encoding)) &&
           is_away(agnews::encode_pair(workspace, kText, kText, encoding)) &&
           is_away(agnews::select_kernel(workspace, "scalar")) && is_away(agnews::self_test(workspace)) &&
           agnews::kernel(workspace).empty() && etch_agnews_kernel(c()).size == 0 &&
           etch_agnews_classify(c(), kText.data(), kText.size(), &c_result) == ETCH_WORKSPACE_IN_USE &&
           etch_agnews_self_test(c()) == ETCH_WORKSPACE_IN_USE;
}

// An executor that does the work, but first uses the workspace that it works for.
struct Meddler {
    int calls = 0;
    int failures = 0;

    static void run(void* context, void (*task)(void*, std::uint32_t), void* argument) noexcept {
        Meddler& self = *static_cast<Meddler*>(context);
        ++self.calls;
        self.failures += all_are_sent_away() ? 0 : 1;
        task(argument, 0);
        task(argument, 1);
    }
};

bool within_a_call() {
    alignas(64) static std::uint8_t scratch[agnews::kScratchBytes];
    Meddler meddler;
    const Executor executor{2, &meddler, Meddler::run, scratch};
    workspace.executor = &executor;
    agnews::Result result{};
    const Status status = agnews::classify(workspace, kText, result);
    workspace.executor = nullptr;
    std::printf("%d times within a call\n", meddler.calls);
    return status == Status::ok && same(result, expected) && meddler.calls > 0 && meddler.failures == 0;
}

// Answers until it was answered as often as it wants to be.
struct Client {
    int answers = 0;
    int refusals = 0;
    bool ok = true;

    void run() {
        while (answers < kRounds && ok) {
            agnews::Result result{};
            const Status status = agnews::classify(workspace, kText, result);
            count(status, status != Status::ok || same(result, expected));
        }
    }
    void test() {
        while (answers < kRounds / 10 && ok)
            count(agnews::self_test(workspace), true);
    }

  private:
    void count(Status status, bool right) {
        ok = right && (status == Status::ok || status == Status::workspace_in_use);
        if (status == Status::ok) {
            ++answers;
        } else {
            ++refusals;
            std::this_thread::yield();
        }
    }
};

}  // namespace

int main() {
    workspace.special_tokens = SpecialTokens::plain_text;  // a self test reads them otherwise
    if (agnews::classify(workspace, kText, expected) != Status::ok) return 1;
    if (!within_a_call()) {
        std::printf("a call within a call was not sent away\n");
        return 1;
    }
    Client left;
    Client right;
    Client tester;
    std::thread one([&] { left.run(); });
    std::thread two([&] { right.run(); });
    std::thread three([&] { tester.test(); });
    one.join();
    two.join();
    three.join();
    if (!left.ok || !right.ok || !tester.ok) {
        std::printf("different results in one workspace\n");
        return 1;
    }
    std::printf("%d answers, %d refusals: same bits\n", left.answers + right.answers,
                left.refusals + right.refusals + tester.refusals);
    return 0;
}
