// SPDX-License-Identifier: Apache-2.0
// What an op is, and the runner that executes it.
//
// An op is a small object that a forward pass makes and hands to a runner. It has
//     std::uint32_t units() const noexcept;                      how many independent pieces of work it consists of
//     void run(const OpContext&, first, last) const noexcept;    does the pieces [first, last)
// Units share nothing but read-only inputs, so that they may run in any order, in parallel, or one at a time; the bits
// do not depend on it. Between two ops there is a barrier. Ops hold no state: a runner may replay them.
//
// A runner is any object with `void operator()(const Op&)` for every op type: the inline one below, one over a caller's
// threads, or one that stops after a budget of units and goes on in the next call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct KernelSet;

// What a worker brings to an op: the kernels of the workspace and its own scratch memory.
struct OpContext {
    const KernelSet& kernels;
    std::uint8_t* scratch;  // the model's kScratchBytes, 64-byte aligned; not shared between workers
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
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
