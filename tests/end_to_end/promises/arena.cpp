// SPDX-License-Identifier: Apache-2.0
// Nothing is read from the arena that the same call did not write, and nothing is written outside it: whatever it holds
// before a call, the bits are the same, and the guards around it stay whole. Built once more under AddressSanitizer and
// UndefinedBehaviorSanitizer, where the workspace lies alone on the heap.
#include <agnews.hpp>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

#include "texts.hpp"

namespace {

using namespace etch;

#if defined(ETCH_SANITIZED)
struct Guarded {
    agnews::Workspace workspace;
    void arm() {}
    bool whole() const { return true; }  // the sanitizer's red zones are the guards
};
#else
constexpr std::uint8_t kGuard = 0x5C;

struct Guarded {
    std::uint8_t before[64 << 10];
    agnews::Workspace workspace;
    std::uint8_t after[64 << 10];
    void arm() {
        std::memset(before, kGuard, sizeof before);
        std::memset(after, kGuard, sizeof after);
    }
    bool whole() const {
        for (const std::uint8_t byte : before) {
            if (byte != kGuard) return false;
        }
        for (const std::uint8_t byte : after) {
            if (byte != kGuard) return false;
        }
        return true;
    }
};
#endif

enum class Fill { zeros, ones, nan, infinity, random };
#if defined(ETCH_SANITIZED)
constexpr Fill kFills[] = {Fill::nan, Fill::random};  // the sanitizer is slow
#else
constexpr Fill kFills[] = {Fill::zeros, Fill::ones, Fill::nan, Fill::infinity, Fill::random, Fill::random};
#endif

void fill(agnews::Workspace& workspace, Fill with) {
    static std::uint32_t state = 1;
    for (std::size_t i = 0; i + 4 <= sizeof workspace.arena; i += 4) {
        std::uint32_t word = 0;
        const float nan = std::numeric_limits<float>::signaling_NaN();
        const float infinity = std::numeric_limits<float>::infinity();
        switch (with) {
            case Fill::zeros:
                break;
            case Fill::ones:
                word = 0xFFFFFFFFu;
                break;
            case Fill::nan:
                std::memcpy(&word, &nan, sizeof word);
                break;
            case Fill::infinity:
                std::memcpy(&word, &infinity, sizeof word);
                break;
            case Fill::random:
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                word = state;
                break;
        }
        std::memcpy(workspace.arena + i, &word, sizeof word);
    }
}

bool same(const agnews::Result& a, const agnews::Result& b) {
    return a.label == b.label && a.tokens == b.tokens && a.truncated == b.truncated &&
           std::memcmp(a.logits, b.logits, sizeof a.logits) == 0 &&
           std::memcmp(a.probability, b.probability, sizeof a.probability) == 0;
}

int check(Guarded& guarded) {
    agnews::Workspace& workspace = guarded.workspace;
    guarded.arm();
    int calls = 0;
    for (std::size_t kernel = 0; !agnews::usable_kernel(kernel).empty(); ++kernel) {
        if (agnews::select_kernel(workspace, agnews::usable_kernel(kernel)) != Status::ok) return 1;
        const auto check_text = [&](std::string_view text) {
            agnews::Result first{};
            agnews::Result first_pair{};
            for (const Fill with : kFills) {
                agnews::Result result{};
                agnews::Result pair{};
                fill(workspace, with);
                bool ok = agnews::classify(workspace, text, result) == Status::ok;
                fill(workspace, with);
                ok = ok && agnews::classify_pair(workspace, text, "and another", pair) == Status::ok;
                if (first.tokens == 0) {
                    first = result;
                    first_pair = pair;
                }
                calls += 2;
                if (!ok || !same(first, result) || !same(first_pair, pair)) {
                    std::printf("kernels %zu, fill %d, text of %zu bytes: what the arena held before shows\n", kernel,
                                static_cast<int>(with), text.size());
                    return false;
                }
                if (!guarded.whole()) {
                    std::printf("kernels %zu, text of %zu bytes: written outside the workspace\n", kernel, text.size());
                    return false;
                }
            }
            return true;
        };
        for (const std::string_view text : promises::kShortTexts) {
            if (!check_text(text)) return 1;
        }
        if (!check_text(promises::kMiddleText)) return 1;
        // The best kernels fill the arena to its end; the slow ones are let off.
        if (kernel == 0 && !check_text(promises::kLongText.view())) return 1;
    }
    std::printf("%d calls: same bits\n", calls);
    return 0;
}

}  // namespace

int main() {
    return check(*std::make_unique<Guarded>());
}
