// SPDX-License-Identifier: Apache-2.0
// What an op is, and the runner that executes it.
//
// An op is a small object that a forward pass makes and hands to a runner. It has
//     std::uint32_t units() const noexcept;                      how many independent pieces of work it has, at least 1
//     std::uint64_t cost() const noexcept;                       about how much work they are together, at least 1
//     void run(const OpContext&, first, last) const noexcept;    does the pieces [first, last)
// Units share nothing but read-only inputs, so that they may run in any order, in parallel, or one at a time; the bits
// do not depend on it. Between two ops there is a barrier. An op's object holds no state; many work in
// place, so that a runner does each unit once.
//
// An op of bytes and of floats is a template over its weights or caches; each of both has a name, as GruS8 and GruF32.
// Its source file instantiates run() alone: the other members would be code that nothing calls.
//
// Cost is counted in multiply-adds of an s8 product, of which a core does 30 to 100 in a nanosecond. It only decides
// how many workers share an op, and how many units belong to a step.
//
// A runner is any object with `void operator()(const Op&)` for every op type: the ones below, or that of stepping.hpp,
// which does a part and goes on in the next call. While it lives, its thread rounds floats as the arithmetic contract
// says (float_mode.hpp), and so does each worker while it does its part of an op.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "etch/executor.hpp"
#include "etch/float_mode.hpp"
#include "etch/ops/attendance.hpp"
#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct KernelSet;

// What a worker brings to an op: the kernels of the workspace and its own scratch memory.
struct OpContext {
    const KernelSet& kernels;
    std::uint8_t* scratch;  // the model's kScratchBytes, for Packing::panel 64-byte aligned; not shared between workers
};

// Runs every unit at once, in the calling thread.
class InlineRunner {
  public:
    explicit InlineRunner(const OpContext& context) noexcept : context_(context) {}

    template <class Op>
    void operator()(const Op& op) const noexcept {
        op.run(context_, 0, op.units());
    }

  private:
    OpContext context_;
    FloatMode mode_;
};

// True where a stepping runner does none of the next `ops` ops in this step, for they were done in an earlier one or
// are due in a later one: the caller may leave them out. False for all other runners.
template <class Runner>
constexpr bool skips(const Runner&, std::uint32_t) noexcept {
    return false;
}

// Costs of other work in multiply-adds of an s8 product, measured with AVX-512 VNNI on Zen 4.
constexpr std::uint64_t kCostOfF32Product = 8;
constexpr std::uint64_t kCostOfProduct = 8;          // of two values of rows, or their sum
constexpr std::uint64_t kCostOfValue = 40;           // quantized or normalized
constexpr std::uint64_t kCostOfPackedValue = 90;     // quantized and packed as a key or a value
constexpr std::uint64_t kCostOfScore = 110;          // raised to a power and quantized
constexpr std::uint64_t kCostOfEmbeddedValue = 100;  // of one entry of a sum

// An op is shared by no more workers than get this much each, one to three microseconds. Handing a task to a thread
// that waits for it and hearing back takes some tenths of one.
constexpr std::uint64_t kLeastShare = std::uint64_t{1} << 18;

// How many of `workers` share an op.
constexpr std::uint32_t sharing_workers(std::uint64_t cost, std::uint32_t units, std::uint32_t workers) noexcept {
    const std::uint64_t worthwhile = cost / kLeastShare;
    std::uint32_t most = units < workers ? units : workers;
    if (most > kMostSharing) most = kMostSharing;
    return worthwhile < most ? static_cast<std::uint32_t>(worthwhile) : most;
}

// Whether an op can be had in other units, too, which are rows:
//     bool prefers_rows(std::uint32_t workers) const noexcept;    whether so many workers should share these
//     auto by_rows() const noexcept;                              units() and run() in these; refers to the op
template <class Op, class = void>
struct HasRows : std::false_type {};
template <class Op>
struct HasRows<Op, std::void_t<decltype(std::declval<const Op&>().by_rows())>> : std::true_type {};

// Runs the units in the workers of an executor, each its own range; small ops, and all where there is no executor, in
// the calling thread. Behind an op that failed none is run: it would read what nobody has written.
class SharingRunner {
  public:
    SharingRunner(const OpContext& context, const Executor* executor, std::size_t scratch_bytes) noexcept
        : context_(context), executor_(executor), scratch_bytes_(scratch_bytes) {}

    template <class Op>
    void operator()(const Op& op) const noexcept {
        if (status_ != Status::ok) return;
        const std::uint32_t units = op.units();
        const std::uint32_t workers = executor_ == nullptr ? 1 : sharing_workers(op.cost(), units, executor_->workers);
        if (workers <= 1) return op.run(context_, 0, units);
        if constexpr (HasRows<Op>::value) {
            if (op.prefers_rows(workers)) {
                const auto rows = op.by_rows();
                return share(rows, rows.units(), workers);
            }
        }
        share(op, units, workers);
    }

    // ok, or executor_failed: not every worker that shared an op did its part once, and what was computed is of no use.
    Status status() const noexcept { return status_; }

    const KernelSet& kernels() const noexcept { return context_.kernels; }

  private:
    template <class Op>
    struct Shared {
        const Op& op;
        const SharingRunner& runner;
        std::uint32_t units;
        std::uint32_t workers;
        Attendance attendance{workers};

        static void run(void* argument, std::uint32_t worker) noexcept {
            Shared& shared = *static_cast<Shared*>(argument);
            if (!shared.attendance.enter(worker)) return;
            const FloatMode mode;
            shared.op.run(shared.runner.context_of(worker), first_unit_of(worker, shared.workers, shared.units),
                          first_unit_of(worker + 1, shared.workers, shared.units));
        }
    };

    // Not inlined: a forward pass would hold one of these objects for each of its ops on the stack.
    template <class Op>
    [[gnu::noinline]] void share(const Op& op, std::uint32_t units, std::uint32_t workers) const noexcept {
        Shared<Op> shared{op, *this, units, workers};
        executor_->run(executor_->context, Shared<Op>::run, &shared);
        if (!shared.attendance.complete()) status_ = Status::executor_failed;
    }

    OpContext context_of(std::uint32_t worker) const noexcept {
        return {context_.kernels, worker == 0 ? context_.scratch : executor_->scratch + (worker - 1) * scratch_bytes_};
    }

    OpContext context_;
    const Executor* executor_;
    std::size_t scratch_bytes_;
    FloatMode mode_;
    mutable Status status_ = Status::ok;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
