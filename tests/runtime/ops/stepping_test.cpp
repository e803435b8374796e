// SPDX-License-Identifier: Apache-2.0
// Which units of a list of ops belong to which step, and what a step may cost.
#include "etch/ops/stepping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "support.hpp"

namespace etch::testing {
namespace {

struct Ran {
    int op;
    std::uint32_t first;
    std::uint32_t last;
    bool operator==(const Ran& other) const { return op == other.op && first == other.first && last == other.last; }
};

std::ostream& operator<<(std::ostream& out, const Ran& ran) {
    return out << ran.op << ": [" << ran.first << ", " << ran.last << ")";
}

struct NumberedOp {
    int number;
    std::uint32_t count;
    std::uint64_t each;
    std::vector<Ran>& runs;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return each * count; }
    void run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
        runs.push_back({number, first, last});
    }
};

using Runs = std::vector<Ran>;

class Steps : public ::testing::Test {
  protected:
    // Three ops of 3, 1 and 4 units that cost 10, 100 and 5 each: 150. The last two make a block.
    bool step(std::uint64_t budget) {
        runs.clear();
        const SteppingRunner run({scalar(Packing::panel), nullptr}, cursor, budget);
        run(NumberedOp{0, 3, 10, runs});
        skipped = skips(run, 2);
        if (skipped) return run.finished();
        run(NumberedOp{1, 1, 100, runs});
        run(NumberedOp{2, 4, 5, runs});
        return run.finished();
    }

    StepCursor cursor;
    Runs runs;
    bool skipped = false;
};

TEST_F(Steps, OneUnitWhereTheBudgetIsTooSmallForAny) {
    for (std::uint32_t unit = 0; unit < 3; ++unit) {
        EXPECT_FALSE(step(0));
        EXPECT_EQ(runs, (Runs{{0, unit, unit + 1}}));
    }
    EXPECT_FALSE(step(1));
    EXPECT_EQ(runs, (Runs{{1, 0, 1}}));
    for (std::uint32_t unit = 0; unit < 4; ++unit) {
        EXPECT_EQ(step(4), unit == 3);
        EXPECT_EQ(runs, (Runs{{2, unit, unit + 1}}));
    }
}

TEST_F(Steps, AsManyUnitsAsTheBudgetPays) {
    EXPECT_FALSE(step(20));
    EXPECT_EQ(runs, (Runs{{0, 0, 2}}));
    EXPECT_TRUE(skipped);
    EXPECT_FALSE(step(109));  // what is left does not pay the next op, a cheaper one behind it has to wait
    EXPECT_EQ(runs, (Runs{{0, 2, 3}}));
    EXPECT_FALSE(step(109));
    EXPECT_EQ(runs, (Runs{{1, 0, 1}, {2, 0, 1}}));
    EXPECT_TRUE(step(15));
    EXPECT_EQ(runs, (Runs{{2, 1, 4}}));
}

TEST_F(Steps, AnOpThatEndsWithTheBudgetIsDone) {
    EXPECT_FALSE(step(30));
    EXPECT_EQ(runs, (Runs{{0, 0, 3}}));
    EXPECT_FALSE(step(100));
    EXPECT_EQ(runs, (Runs{{1, 0, 1}}));
    EXPECT_TRUE(step(20));
    EXPECT_EQ(runs, (Runs{{2, 0, 4}}));
}

TEST_F(Steps, TheFirstUnitMayOverdrawOnce) {
    EXPECT_FALSE(step(30));
    EXPECT_FALSE(step(60));
    EXPECT_EQ(runs, (Runs{{1, 0, 1}}));
}

TEST_F(Steps, OpsBeforeAndBehindTheCursorAreSkipped) {
    cursor = {nullptr, 5, 0, false};
    const SteppingRunner run({scalar(Packing::panel), nullptr}, cursor, 0);
    EXPECT_TRUE(skips(run, 5));  // 0 to 4
    EXPECT_FALSE(skips(run, 1));
    EXPECT_FALSE(skips(run, 9));
    run(NumberedOp{5, 2, 1, runs});  // one unit of it
    EXPECT_TRUE(skips(run, 9));
    EXPECT_FALSE(run.finished());
    EXPECT_FALSE(skips(InlineRunner({scalar(Packing::panel), nullptr}), 5));
}

TEST_F(Steps, EverythingAtOnce) {
    EXPECT_FALSE(step(149));
    cursor = {};
    EXPECT_TRUE(step(150));
    EXPECT_EQ(runs, (Runs{{0, 0, 3}, {1, 0, 1}, {2, 0, 4}}));
    cursor = {};
    EXPECT_TRUE(step(~std::uint64_t{0}));
    EXPECT_EQ(runs.size(), 3u);
}

TEST(StepBudget, CostsThatDoNotDivideAreRoundedUp) {
    StepBudget budget(12);
    EXPECT_EQ(budget.take(10, 4, 4), 4u);  // 3 each
    EXPECT_EQ(budget.take(1, 1, 1), 0u);
    StepBudget large(std::uint64_t{1} << 40);
    EXPECT_EQ(large.take(std::uint64_t{1} << 50, 1u << 20, 1u << 20), 1u << 10);
}

// Whatever the ops and the budget, a step spends no more than the budget, or one unit.
TEST(StepBudget, NoStepCostsMoreThanItsBudgetOrOneUnit) {
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same every time
    for (int round = 0; round < 2000; ++round) {
        const std::uint64_t budget = random() % 1000;
        StepBudget left(budget);
        std::uint64_t spent = 0;
        std::uint32_t done = 0;
        for (std::uint32_t units = 0, taken = units; taken == units; spent += 7 * taken, done += taken) {
            units = 1 + static_cast<std::uint32_t>(random() % 9);
            taken = left.take(7 * std::uint64_t{units}, units, units);
        }
        EXPECT_EQ(done, std::max<std::uint64_t>(budget / 7, 1));
        EXPECT_LE(spent, std::max<std::uint64_t>(budget, 7));
    }
}

}  // namespace
}  // namespace etch::testing
