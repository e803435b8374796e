// SPDX-License-Identifier: Apache-2.0
// An executor that means ill, by a seed: parts in the calling thread in any order, or in threads of the pool, each part
// in any of them and early or late; every part finds its scratch full of something else. One text shared by 1 to 8
// workers, and several workspaces that answer batches at once, have the bits that a text has alone. Exit code 0 where
// they have.
//
// usage: promise-adversary TEXTS [SEED]
#include <sched.h>

#include <agnews.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "etch/hosted/thread_pool.hpp"
#include "texts.hpp"

namespace {

using namespace etch;

constexpr std::uint32_t kMostWorkers = 8;

alignas(64) std::uint8_t scratch[(kMostWorkers - 1) * agnews::kScratchBytes];

class Adversary {
  public:
    Adversary(std::uint32_t workers, std::uint32_t seed) : workers_(workers), random_(seed), pool_(workers) {}

    bool complete() const { return pool_.threads() == workers_ && misses_ == 0; }
    Executor executor() { return {workers_, this, run, scratch}; }
    std::uint64_t rounds() const { return round_; }

  private:
    static void run(void* context, void (*task)(void*, std::uint32_t), void* argument) noexcept {
        static_cast<Adversary*>(context)->run(task, argument);
    }

    void run(void (*task)(void*, std::uint32_t), void* argument) {
        task_ = task;
        argument_ = argument;
        std::iota(order_, order_ + workers_, 0u);
        std::shuffle(order_, order_ + workers_, random_);
        for (std::uint32_t i = 0; i < workers_; ++i) {
            before_[i] = delay();
            after_[i] = delay();
            poison_[i] = static_cast<std::uint8_t>(random_());
        }
        ++round_;
        if (random_() % 2 == 0) {
            for (std::uint32_t i = 0; i < workers_; ++i)
                part(i);
        } else {
            pool_.run([](void* self, std::uint32_t i) { static_cast<Adversary*>(self)->part(i); }, this);
        }
        for (std::uint32_t i = 0; i < workers_; ++i) {
            if (done_[i].exchange(0) != 1) ++misses_;
        }
    }

    void part(std::uint32_t place) {
        const std::uint32_t worker = order_[place];
        wait(before_[worker]);
        if (worker > 0) {
            std::memset(scratch + (worker - 1) * agnews::kScratchBytes, poison_[worker], agnews::kScratchBytes);
        }
        task_(argument_, worker);
        wait(after_[worker]);
        ++done_[worker];
    }

    // Mostly none; sometimes a look, sometimes the rest of a time slice.
    std::uint32_t delay() { return random_() % 4 != 0 ? 0 : static_cast<std::uint32_t>(random_()) % 3000; }

    static void wait(std::uint32_t turns) {
        if (turns % 3 == 1) sched_yield();
        for (volatile std::uint32_t i = 0; i < turns; i = i + 1) {
        }
    }

    std::uint32_t workers_;
    std::mt19937 random_;
    hosted::ThreadPool pool_;
    void (*task_)(void*, std::uint32_t) = nullptr;
    void* argument_ = nullptr;
    std::uint64_t round_ = 0;
    std::uint64_t misses_ = 0;
    std::uint32_t order_[kMostWorkers] = {};
    std::uint32_t before_[kMostWorkers] = {};
    std::uint32_t after_[kMostWorkers] = {};
    std::uint8_t poison_[kMostWorkers] = {};
    std::atomic<std::uint32_t> done_[kMostWorkers] = {};
};

bool same(const agnews::Result& a, const agnews::Result& b) {
    return a.label == b.label && a.tokens == b.tokens && a.truncated == b.truncated &&
           std::memcmp(a.logits, b.logits, sizeof a.logits) == 0 &&
           std::memcmp(a.probability, b.probability, sizeof a.probability) == 0;
}

// Workspaces of their own, each with its share of the texts.
struct Batches {
    std::vector<std::unique_ptr<agnews::Workspace>>& workspaces;
    const std::vector<std::string_view>& texts;
    std::vector<agnews::Result>& results;
    std::uint32_t workers;

    static void run(void* argument, std::uint32_t worker) {
        const Batches& self = *static_cast<const Batches*>(argument);
        const std::uint32_t count = static_cast<std::uint32_t>(self.texts.size());
        const std::uint32_t first = first_unit_of(worker, self.workers, count);
        const std::uint32_t end = first_unit_of(worker + 1, self.workers, count);
        static_cast<void>(agnews::classify_batch(*self.workspaces[worker], self.texts.data() + first, end - first,
                                                 self.results.data() + first));
    }
};

class Trial {
  public:
    explicit Trial(std::uint32_t seed) : random_(seed) {
        for (std::uint32_t i = 0; i < kMostWorkers; ++i)
            workspaces_.push_back(std::make_unique<agnews::Workspace>());
        for (std::size_t length : {0, 1, 9, 40, 40, 60, 90, 150, 150, 300, 600, 4096}) {
            for (std::size_t begin = 0; begin < 40; begin += 13)
                texts_.push_back(promises::kLongText.view().substr(begin, length));
        }
        texts_.insert(texts_.end(), std::begin(promises::kShortTexts), std::end(promises::kShortTexts));
        expected_.resize(texts_.size());
        for (std::size_t i = 0; i < texts_.size(); ++i)
            static_cast<void>(agnews::classify(*workspaces_[0], texts_[i], expected_[i]));
    }

    // Some texts with one adversary; how many, or 0 where a bit is wrong.
    std::size_t answer_some() {
        const std::uint32_t workers = 1 + static_cast<std::uint32_t>(random_()) % kMostWorkers;
        Adversary adversary(workers, static_cast<std::uint32_t>(random_()));
        const Executor executor = adversary.executor();
        std::size_t answered = 0;
        for (int call = 0; call < 20; ++call) {
            std::vector<std::size_t> chosen(random_() % 2 == 0 ? 1 : 1 + random_() % 24);
            for (std::size_t& index : chosen)
                index = random_() % texts_.size();
            if (!right(executor, chosen)) {
                std::printf("different bits with %u workers\n", workers);
                return 0;
            }
            answered += chosen.size();
        }
        rounds += adversary.rounds();
        return adversary.complete() ? answered : 0;
    }

    std::uint64_t rounds = 0;

  private:
    bool right(const Executor& executor, const std::vector<std::size_t>& chosen) {
        std::vector<std::string_view> texts;
        for (const std::size_t index : chosen)
            texts.push_back(texts_[index]);
        std::vector<agnews::Result> results(chosen.size());
        if (chosen.size() == 1) {
            workspaces_[0]->executor = &executor;
            static_cast<void>(agnews::classify(*workspaces_[0], texts[0], results[0]));
            workspaces_[0]->executor = nullptr;
        } else {
            Batches batches{workspaces_, texts, results, executor.workers};
            executor.run(executor.context, Batches::run, &batches);
        }
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            if (!same(results[i], expected_[chosen[i]])) return false;
        }
        return true;
    }

    std::mt19937 random_;
    std::vector<std::unique_ptr<agnews::Workspace>> workspaces_;
    std::vector<std::string_view> texts_;
    std::vector<agnews::Result> expected_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::size_t wanted = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
    Trial trial(argc > 2 ? static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)) : 1);
    std::size_t texts = 0;
    while (texts < wanted) {
        const std::size_t answered = trial.answer_some();
        if (answered == 0) return 1;
        texts += answered;
    }
    std::printf("%zu texts, %llu rounds of an executor: same bits\n", texts,
                static_cast<unsigned long long>(trial.rounds));
    return trial.rounds > 0 ? 0 : 1;
}
