// SPDX-License-Identifier: Apache-2.0
// The caller-owned memory of one inference session. Two workspaces are two independent sessions, usable from two
// threads; one workspace must not be used from two threads at once. The model's tables are shared and const.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/executor.hpp"
#include "etch/step_cursor.hpp"
#include "etch/tokenizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// `Model` ties a workspace to the model it was sized for. The constructor is constexpr: a static workspace costs
// nothing at start-up and lies in the program's zero-initialized memory.
template <class Model, std::size_t ArenaBytes>
class Workspace {
  public:
    constexpr Workspace() noexcept = default;
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    // How special tokens typed in a text are read from the next call on.
    SpecialTokens special_tokens = SpecialTokens::recognized;

    // Of a model that searches with beams, how many from the next call on: 0 or more than it has are all, 1 is greedy.
    std::uint8_t beams = 0;

    // Chosen when the workspace is first used, or by select_kernel().
    const KernelSet* kernels = nullptr;

    // The caller's threads, from the next call on; null: the calling thread does everything.
    const Executor* executor = nullptr;

    // How far a call in steps is; the functions of the model write it, nobody else.
    StepCursor cursor;

    alignas(64) std::uint8_t arena[ArenaBytes] = {};
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
