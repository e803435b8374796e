// SPDX-License-Identifier: Apache-2.0
// Two workspaces in two threads, each with its own kernels and texts: the same bits as one after the other. Exit code 0
// where they are; built once more under ThreadSanitizer, which ends the program with another code where they race.
#include <agnews.hpp>
#include <cstdio>
#include <cstring>
#include <thread>

#include "texts.hpp"

namespace {

using namespace etch;

constexpr std::size_t kTexts = sizeof promises::kShortTexts / sizeof promises::kShortTexts[0] + 1;
#if defined(ETCH_SANITIZED)
constexpr int kRounds = 1;  // the sanitizer is slow
#else
constexpr int kRounds = 3;
#endif

std::string_view text_at(std::size_t index) {
    return index + 1 < kTexts ? promises::kShortTexts[index] : promises::kMiddleText;
}

struct Session {
    agnews::Workspace workspace;
    agnews::Result results[kRounds][kTexts];
    bool ok = true;

    // From the text `first` on, so that two sessions are at different places.
    void run(std::size_t first) {
        for (auto& round : results) {
            for (std::size_t i = 0; i < kTexts; ++i) {
                const std::size_t at = (first + i) % kTexts;
                ok = ok && agnews::classify(workspace, text_at(at), round[at]) == Status::ok;
            }
        }
    }
};

bool same(const Session& a, const Session& b) {
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < kTexts; ++i) {
            const agnews::Result& x = a.results[round][i];
            const agnews::Result& y = b.results[round][i];
            if (x.label != y.label || x.tokens != y.tokens || x.truncated != y.truncated ||
                std::memcmp(x.logits, y.logits, sizeof x.logits) != 0 ||
                std::memcmp(x.probability, y.probability, sizeof x.probability) != 0) {
                return false;
            }
        }
    }
    return true;
}

Session alone;
Session left;
Session right;

}  // namespace

int main() {
    std::size_t kernels = 0;
    while (!agnews::usable_kernel(kernels).empty())
        ++kernels;
    alone.run(0);
    for (std::size_t i = 0; i < kernels; ++i) {
        // Best kernels in one thread, each kind in the other.
        if (agnews::select_kernel(right.workspace, agnews::usable_kernel(i)) != Status::ok) return 1;
        std::thread one([] { left.run(0); });
        std::thread two([] { right.run(kTexts / 2); });
        one.join();
        two.join();
        if (!alone.ok || !left.ok || !right.ok || !same(alone, left) || !same(alone, right)) {
            std::printf("different results in two threads\n");
            return 1;
        }
    }
    std::printf("%zu kernels, %d rounds of %zu texts: same bits\n", kernels, kRounds, kTexts);
    return 0;
}
