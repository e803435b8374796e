// SPDX-License-Identifier: Apache-2.0
// Several texts that a model writes for, in steps: the texts of a group begin together, as many as share passes, and
// each step goes through the ops of all of them, or of as many passes as it can afford. Where there are no slots for
// texts, or a call searches, a group is one text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/calls/writing_batch.hpp"
#include "etch/calls/writing_steps.hpp"
#include "etch/ops/stepping.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// The first texts of [first, count), `taken` of them, numbered as in the batch; first < count.
template <class Generator, class Workspace, class Inputs>
Status begin_write_batch(Workspace& workspace, const Inputs& inputs, std::size_t count, std::size_t first,
                         std::uint32_t& taken) noexcept {
    using Encoder = typename Generator::Encoder;
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    taken = 0;
    if (first >= count) return Status::ok;
    const auto overlap = [&](const Written& memory) { return inputs.is_in(memory, first, count); };
    if (in_memory_of(workspace, overlap)) return Status::text_overlaps;
    std::uint32_t begun = 1;
    bool truncated = false;
    Status status = Status::ok;
    if (Generator::kBeams > 1 && is_greedy<Generator>(workspace)) {
        if constexpr (Generator::kBeams > 1)
            status = begin_group<Generator>(workspace, inputs, first, count, a, begun, truncated);
    } else {
        Tokenized tokens{};
        status = begin_writing<Generator>(workspace, input_of(inputs[first]), a, Encoder::kLimits.max_tokens,
                                          static_cast<std::uint32_t>(first), tokens);
        truncated = tokens.truncated;
    }
    if (status != Status::ok) return status;
    workspace.cursor.kernels = &chosen_kernels(Encoder::kKernels, workspace.kernels);
    workspace.cursor.truncated = truncated;
    workspace.cursor.group = static_cast<std::uint8_t>(begun);
    taken = begun;
    return Status::ok;
}

// A list of ops of the texts in these slots: that of all texts of the group, then one for each pass.
template <class Generator, class Runner>
[[gnu::noinline]] void go_on_together(const Runner& run, const typename Generator::Encoder::Arena& a,
                                      std::uint32_t group, const std::uint8_t* slots, std::uint32_t count) noexcept {
    if (!a.writing->has_text) {
        Generator::Encoder::forward(run, Texts{a.texts, group}, a);
    } else if (read_some_of<Generator>(run, a, slots, count)) {
        choose_some_of<Generator>(run, a, slots, count);
    }
}

// A group that has slots. Between two lists of ops the texts that have ended leave: within one, a list is the same in
// every step.
template <class Generator, class Workspace, class Targets>
[[gnu::noinline]] Status step_group(Workspace& workspace, std::uint64_t budget, const Targets& target_of,
                                    typename Generator::Result* results) noexcept {
    StepCursor& cursor = workspace.cursor;
    const typename Generator::Encoder::Arena a = arena_in<typename Generator::Encoder>(workspace);
    const SteppingRunner run{OpContext{*cursor.kernels, a.scratch}, cursor, budget};
    std::uint8_t slots[Generator::kBeams];
    const bool between = cursor.op == 0 && cursor.unit == 0;
    std::uint32_t left = going_slots<Generator>(a, cursor.group, slots);
    if (between) left = still_going<Generator>(a, slots, left, false, target_of, cursor.truncated, results);
    while (left != 0) {
        go_on_together<Generator>(run, a, cursor.group, slots, left);
        if (!run.finished()) {
            for (std::uint32_t i = 0; i < left; ++i)
                tell<Generator>(a.writing[slots[i]], results[slots[i]]);
            return Status::in_progress;
        }
        run.begin_list();
        if (a.writing->has_text) {
            left = still_going<Generator>(a, slots, left, true, target_of, cursor.truncated, results);
        } else {
            a.writing->has_text = true;
        }
    }
    cursor = {};
    return Status::ok;
}

// A group of one text. Not inlined, as the other one: each has an arena on the stack.
template <class Generator, class Workspace, class Target>
[[gnu::noinline]] Status step_only(Workspace& workspace, std::uint64_t budget, const Target& target,
                                   typename Generator::Result& result) noexcept {
    return step_alone<Generator>(workspace, budget, target, result);
}

template <class Generator, class Workspace>
[[gnu::noinline]] bool is_search(Workspace& workspace) noexcept {
    return searches<Generator>(arena_in<typename Generator::Encoder>(workspace));
}

// `target_of(i)` is where text i of the group goes, `results` are theirs; `written(count)` all the targets' memory.
template <class Generator, class Workspace, class Targets, class AllWritten>
Status step_write_batch(Workspace& workspace, std::uint64_t budget, const Targets& target_of, const AllWritten& written,
                        typename Generator::Result* results) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    if (!goes_on(workspace.cursor, true)) return Status::not_begun;
    const std::uint32_t group = workspace.cursor.group;
    const Written targets = written(group);
    const Written told{results, group * sizeof *results};
    const auto overlap = [&](const Written& memory) {
        return targets.holds(memory.data, memory.bytes) || told.holds(memory.data, memory.bytes);
    };
    if (in_memory_of(workspace, overlap)) return Status::text_overlaps;
    if constexpr (Generator::kBeams > 1) {
        if (!is_search<Generator>(workspace)) return step_group<Generator>(workspace, budget, target_of, results);
    }
    return step_only<Generator>(workspace, budget, target_of(0), results[0]);
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
