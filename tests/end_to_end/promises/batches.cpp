// SPDX-License-Identifier: Apache-2.0
// Random batches of texts of every length, empty and cut ones among them, on every kernel and with threads: each text
// has the bits that it has alone, also through the C header. Exit code 0 where they are. An argument says how many
// batches a kernel gets.
#include <agnews.h>

#include <agnews.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "etch/hosted/thread_pool.hpp"
#include "texts.hpp"

namespace {

using namespace etch;

constexpr std::uint32_t kThreads = 3;
#if defined(ETCH_SANITIZED)
constexpr int kBatches = 3;  // the sanitizer is slow
#else
constexpr int kBatches = 25;
#endif

alignas(64) std::uint8_t scratch[(kThreads - 1) * agnews::kScratchBytes];
agnews::Workspace alone;
agnews::Workspace together;
etch_agnews_workspace through_c;

bool same(const agnews::Result& a, const agnews::Result& b) {
    return a.label == b.label && a.tokens == b.tokens && a.truncated == b.truncated &&
           std::memcmp(a.logits, b.logits, sizeof a.logits) == 0 &&
           std::memcmp(a.probability, b.probability, sizeof a.probability) == 0;
}

// Mostly short ones, so that many share a pass; some fill it, some are cut.
std::vector<std::string_view> random_texts(std::mt19937& random) {
    constexpr std::size_t kLengths[] = {0, 1, 20, 60, 60, 150, 300, 4096};
    std::vector<std::string_view> texts(random() % 40);
    for (std::string_view& text : texts) {
        const std::size_t most = kLengths[random() % 8];
        text = promises::kLongText.view().substr(random() % 50, most == 0 ? 0 : 1 + random() % most);
    }
    return texts;
}

bool same_in(const std::vector<std::string_view>& texts) {
    std::vector<agnews::Result> results(texts.size());
    std::vector<etch_agnews_result> c_results(texts.size());
    std::vector<etch_text> c_texts;
    for (const std::string_view text : texts)
        c_texts.push_back({text.data(), text.size()});
    if (agnews::classify_batch(together, texts.data(), texts.size(), results.data()) != Status::ok ||
        etch_agnews_classify_batch(&through_c, c_texts.data(), c_texts.size(), c_results.data()) != ETCH_OK) {
        return false;
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        agnews::Result expected{};
        agnews::Result from_c{};
        std::memcpy(&from_c, &c_results[i], sizeof from_c);
        if (agnews::classify(alone, texts[i], expected) != Status::ok || !same(expected, results[i]) ||
            !same(expected, from_c)) {
            std::printf("text %zu of %zu, %u tokens: different bits\n", i, texts.size(), expected.tokens);
            return false;
        }
    }
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    const int batches = count > 1 ? std::atoi(arguments[1]) : kBatches;
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same texts every time
    hosted::ThreadPool pool(kThreads);
    const Executor executor = pool.executor(scratch);
    std::size_t texts_seen = 0;
    std::size_t kernels = 0;
    for (; !agnews::usable_kernel(kernels).empty(); ++kernels) {
        const std::string_view name = agnews::usable_kernel(kernels);
        if (agnews::select_kernel(together, name) != Status::ok ||
            etch_agnews_select_kernel(&through_c, name.data(), name.size()) != ETCH_OK) {
            return 1;
        }
        for (int batch = 0; batch < batches; ++batch) {
            together.executor = batch % 2 == 0 ? &executor : nullptr;
            const std::vector<std::string_view> texts = random_texts(random);
            if (!same_in(texts)) return 1;
            texts_seen += texts.size();
        }
    }
    std::printf("%zu kernels, %zu texts in batches: same bits\n", kernels, texts_seen);
    return texts_seen > 0 ? 0 : 1;
}
