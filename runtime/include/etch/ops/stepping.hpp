// SPDX-License-Identifier: Apache-2.0
// A forward pass in steps. Each step goes through the whole list of ops again, in strides of a block of rows where it
// can, and does, from where the last one stopped, as many units as its budget allows. The list is the same every time:
// it depends on nothing but the tables and the texts, which stay in the arena.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/step_cursor.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// What a step may still spend, in the measure of cost().
class StepBudget {
  public:
    explicit StepBudget(std::uint64_t budget) noexcept : left_(budget) {}

    // How many of the `wanted` units, of an op that has `units` of them, the step does: those that it can afford, its
    // first unit in any case. The cost of an op counts as evenly spread.
    std::uint32_t take(std::uint64_t cost, std::uint32_t units, std::uint32_t wanted) noexcept;

  private:
    std::uint64_t left_;
    bool first_ = true;  // nothing is done yet
};

// One step, in the calling thread.
class SteppingRunner {
  public:
    SteppingRunner(const OpContext& context, StepCursor& cursor, std::uint64_t budget) noexcept
        : context_(context), cursor_(cursor), budget_(budget) {}

    // An op that the step does not finish is where the cursor stays, and no later one has its number.
    template <class Op>
    void operator()(const Op& op) const noexcept {
        if (ops_++ == cursor_.op) run_some(op);
    }

    // Whether the next ones lie before the cursor, or behind it.
    bool skips(std::uint32_t ops) const noexcept {
        if (cursor_.op - ops_ < ops) return false;
        ops_ += ops;
        return true;
    }

    const KernelSet& kernels() const noexcept { return context_.kernels; }

    // Behind the last op: whether all are done.
    bool finished() const noexcept { return cursor_.op == ops_; }

    // Behind the last op of a list: another one begins, for what is left of the budget.
    void begin_list() const noexcept {
        cursor_.op = 0;
        ops_ = 0;
    }

  private:
    // Not inlined: what steps over an op is short.
    template <class Op>
    [[gnu::noinline]] void run_some(const Op& op) const noexcept {
        const std::uint32_t units = op.units();
        const std::uint32_t first = cursor_.unit;
        const std::uint32_t last = first + budget_.take(op.cost(), units, units - first);
        if (first != last) op.run(context_, first, last);
        cursor_.unit = last;
        if (last == units) {
            ++cursor_.op;
            cursor_.unit = 0;
        }
    }

    OpContext context_;
    StepCursor& cursor_;
    mutable StepBudget budget_;
    mutable std::uint32_t ops_ = 0;  // of the list so far
    FloatMode mode_;
};

inline bool skips(const SteppingRunner& run, std::uint32_t ops) noexcept {
    return run.skips(ops);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
