// SPDX-License-Identifier: Apache-2.0
// The pool runs every worker of every round once and sleeps in between; the processors that it may count on.
#include "etch/hosted/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "hosted/posix/control_groups.hpp"

namespace {

using etch::Executor;
using etch::first_unit_of;
using etch::hosted::available_threads;
using etch::hosted::kNoLimit;
using etch::hosted::processors_of_groups;
using etch::hosted::ThreadPool;

struct Counts {
    std::uint64_t of[ThreadPool::kMostThreads] = {};  // plain: what run() promises is enough

    static void add(void* counts, std::uint32_t worker) { ++static_cast<Counts*>(counts)->of[worker]; }
};

TEST(ThreadPool, EveryWorkerOnceARound) {
    for (const std::uint32_t threads : {1u, 2u, 3u, 8u, ThreadPool::kMostThreads}) {
        ThreadPool pool(threads);
        ASSERT_EQ(pool.threads(), threads);
        const Executor executor = pool.executor(nullptr);
        EXPECT_EQ(executor.workers, threads);
        Counts counts;
        constexpr std::uint64_t kRounds = 200;
        for (std::uint64_t round = 0; round < kRounds; ++round)
            executor.run(executor.context, Counts::add, &counts);
        for (std::uint32_t worker = 0; worker < ThreadPool::kMostThreads; ++worker)
            EXPECT_EQ(counts.of[worker], worker < threads ? kRounds : 0) << worker << " of " << threads;
    }
}

// Parts that take a while, at random: the calling thread and the worker's own meet at many of them.
struct LateParts {
    std::atomic<std::uint32_t> begun[ThreadPool::kMostThreads] = {};
    std::atomic<std::uint32_t> ended[ThreadPool::kMostThreads] = {};
    std::uint32_t turns[ThreadPool::kMostThreads] = {};

    static void run(void* parts, std::uint32_t worker) {
        LateParts& self = *static_cast<LateParts*>(parts);
        ++self.begun[worker];
        if (self.turns[worker] % 5 == 1) sched_yield();
        for (volatile std::uint32_t i = 0; i < self.turns[worker]; i = i + 1) {
        }
        ++self.ended[worker];
    }
};

TEST(ThreadPool, EveryPartOnceInItsRoundHoweverLate) {
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same delays every time
    for (const std::uint32_t threads : {2u, 3u, 8u}) {
        ThreadPool pool(threads);
        for (int round = 0; round < 2000; ++round) {
            LateParts parts;  // of this round: whoever comes later would be seen by a sanitizer, or in the next one
            for (std::uint32_t& turns : parts.turns)
                turns = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 5000 : 0);
            pool.run(LateParts::run, &parts);
            for (std::uint32_t worker = 0; worker < threads; ++worker) {
                ASSERT_EQ(parts.begun[worker], 1u) << worker << " of " << threads;
                ASSERT_EQ(parts.ended[worker], 1u) << worker << " of " << threads;
            }
        }
    }
}

TEST(ThreadPool, WakesUpAfterSleeping) {
    ThreadPool pool(2);
    Counts counts;
    for (int round = 0; round < 5; ++round) {
        pool.run(Counts::add, &counts);
        const timespec long_enough{0, 5'000'000};
        nanosleep(&long_enough, nullptr);
    }
    EXPECT_EQ(counts.of[1], 5u);
}

TEST(ThreadPool, SleepsWhileNothingIsToDo) {
    ThreadPool pool(4);
    timespec before{};
    timespec after{};
    const timespec a_while{0, 300'000'000};
    nanosleep(&a_while, nullptr);  // until everyone sleeps
    ASSERT_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before), 0);
    nanosleep(&a_while, nullptr);
    ASSERT_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after), 0);
    const auto nanoseconds = (after.tv_sec - before.tv_sec) * 1'000'000'000 + (after.tv_nsec - before.tv_nsec);
    EXPECT_LT(nanoseconds, 100'000'000);  // three that look all the time take up to 900,000,000
}

TEST(ThreadPool, CanEndWithoutARound) {
    for (int i = 0; i < 100; ++i)
        const ThreadPool pool(3);
}

TEST(ThreadPool, ANumberThatCannotBeHadIsSaid) {
    EXPECT_EQ(ThreadPool(0).threads(), 1u);
    EXPECT_EQ(ThreadPool(ThreadPool::kMostThreads + 1).threads(), 1u);
}

TEST(ThreadPool, ARefusedThreadEndsTheOthers) {
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
    const rlimit little{std::size_t{1} << 20, limit.rlim_max};  // no room for a stack
    ASSERT_EQ(setrlimit(RLIMIT_AS, &little), 0);
    std::uint32_t threads = 0;
    {
        ThreadPool pool(8);
        threads = pool.threads();
    }
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_EQ(threads, 1u);
}

TEST(FirstUnit, PartsFollowEachOtherAndDifferByOneAtMost) {
    for (const std::uint32_t units : {1u, 7u, 48u, 4'000'000'000u}) {
        for (std::uint32_t workers = 1; workers <= 8; ++workers) {
            EXPECT_EQ(first_unit_of(0, workers, units), 0u);
            EXPECT_EQ(first_unit_of(workers, workers, units), units);
            for (std::uint32_t worker = 0; worker < workers; ++worker) {
                const std::uint32_t part =
                    first_unit_of(worker + 1, workers, units) - first_unit_of(worker, workers, units);
                EXPECT_TRUE(part == units / workers || part == units / workers + 1) << units << " " << workers;
            }
        }
    }
}

class Groups : public ::testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/etch-groups-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        root_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void write(const std::string& file, const std::string& text) {
        const std::filesystem::path path = root_ + file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    std::uint32_t processors(const char* groups) const { return processors_of_groups(groups, root_); }

    std::string root_;
};

TEST_F(Groups, Version2) {
    EXPECT_EQ(processors("0::/\n"), kNoLimit);
    write("/cpu.max", "max 100000\n");
    EXPECT_EQ(processors("0::/\n"), kNoLimit);
    write("/cpu.max", "250000 100000\n");
    EXPECT_EQ(processors("0::/\n"), 2u);
    write("/cpu.max", "50000 100000\n");
    EXPECT_EQ(processors("0::/\n"), 1u);
    for (const char* text : {"nonsense", "", " ", "200000", "200000 0", "9000000000000000000 1"}) {
        write("/cpu.max", text);
        EXPECT_EQ(processors("0::/\n"), kNoLimit) << text;
    }
}

TEST_F(Groups, TheTightestOfThoseAboveCounts) {
    write("/a/b/cpu.max", "800000 100000\n");
    EXPECT_EQ(processors("0::/a/b\n"), 8u);
    EXPECT_EQ(processors("0::/a/b/c\n"), 8u);
    write("/a/cpu.max", "300000 100000\n");
    EXPECT_EQ(processors("0::/a/b\n"), 3u);
    write("/cpu.max", "200000 100000\n");
    EXPECT_EQ(processors("0::/a/b"), 2u);
    EXPECT_EQ(processors("0::/elsewhere/in/the/container"), 2u);
}

TEST_F(Groups, Version1) {
    write("/cpu/box/cpu.cfs_quota_us", "400000\n");
    write("/cpu/box/cpu.cfs_period_us", "100000\n");
    write("/cpu/cpu.cfs_quota_us", "-1\n");
    write("/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(processors("5:cpuset:/box\n4:cpu,cpuacct:/box\n0::/\n"), 4u);
    EXPECT_EQ(processors("4:cpuacct,cpu:/box\n"), 4u);
    EXPECT_EQ(processors("5:cpuset:/box\n"), kNoLimit);
}

TEST_F(Groups, WhatIsNotUnderstoodIsNoLimit) {
    for (const char* groups : {"", "\n\n", "0", "0:", ":::", "no group file", "4:cpu:", "4:cpuacct,:/", "0::no slash"})
        EXPECT_EQ(processors(groups), kNoLimit) << groups;
    EXPECT_EQ(processors(("0::/" + std::string(2000, 'x')).c_str()), kNoLimit);
}

TEST(AvailableThreads, FollowTheAffinityMask) {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    EXPECT_GE(available_threads(), 1u);
    EXPECT_LE(available_threads(), static_cast<std::uint32_t>(CPU_COUNT(&all)));
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all))
        ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const std::uint32_t threads = available_threads();
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(threads, 1u);
}

}  // namespace
