// SPDX-License-Identifier: Apache-2.0
// The caller-owned memory of one inference session. Two workspaces are two independent sessions, usable from two
// threads. A call that finds its workspace in use by another one reports Status::workspace_in_use and leaves it alone.
// The model's tables are shared and const.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "etch/alignment.hpp"
#include "etch/executor.hpp"
#include "etch/regions.hpp"
#include "etch/step_cursor.hpp"
#include "etch/tables.hpp"
#include "etch/tokenizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct Sampling;

// `Model` ties a workspace to the model it was sized for; `RegionsOfModel` is Regions<>, or more where buffers lie
// beside the arena, too; `TablesOfModel` says whether those tables are there that are copied first. The constructor is
// constexpr: a static workspace costs nothing at start-up and lies in the program's zero-initialized memory.
template <class Model, std::size_t ArenaBytes, class RegionsOfModel = Regions<>, class TablesOfModel = TablesInPlace>
class Workspace {
  public:
    using Beside = RegionsOfModel;
    using Tables = TablesOfModel;
    static constexpr std::size_t kRegions = Beside::kCount;

    constexpr Workspace() noexcept = default;
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    // How special tokens typed in a text are read from the next call on.
    SpecialTokens special_tokens = SpecialTokens::recognized;

    // Of a model that searches with beams, how many from the next call on: 0 or more than it has are all, 1 is greedy.
    std::uint8_t beams = 0;

    // Of a model that has them, where they begin: to be set before the first call.
    Beside regions;

    // Of a generative model, tokens at most, the end included, from the next call on: 0 or more than it was generated
    // for are all of those.
    std::uint32_t max_target = 0;

    // Whether a call is under way; the functions of the model write it, nobody else.
    std::atomic<std::uintptr_t> in_use{0};

    // Chosen when the workspace is first used, or by select_kernel().
    const KernelSet* kernels = nullptr;

    // The caller's threads, from the next call on; null: the calling thread does everything.
    const Executor* executor = nullptr;

    // How far a call in steps is; the functions of the model write it, nobody else.
    StepCursor cursor;

    // Of a generative model: how tokens are drawn from the next call on, which takes a copy and does not search. Null:
    // as the model's folder says.
    const Sampling* sampling = nullptr;

    alignas(kMemoryAlignment) std::uint8_t arena[ArenaBytes] = {};
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
