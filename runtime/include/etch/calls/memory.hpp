// SPDX-License-Identifier: Apache-2.0
// The memory of a call: its workspace, and the regions beside it.
#pragma once

#include <cstddef>
#include <utility>

#include "etch/overlap.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Whether `overlaps`, of one piece of memory, says so of any that a call writes.
template <class Workspace, class Overlaps>
bool in_memory_of(const Workspace& workspace, const Overlaps& overlaps) noexcept {
    bool found = overlaps(Written{&workspace, sizeof workspace});
    if constexpr (Workspace::kRegions > 0) {
        for (std::size_t i = 0; i < Workspace::kRegions; ++i)
            found = found || overlaps(Written{workspace.regions[i], workspace.regions.kBytes[i]});
    }
    return found;
}

// Whether one of the texts or pairs [count], or the list of them, lies where a call with these results [count] writes.
template <class Workspace, class Input, class Result>
bool one_lies_in(const Workspace& workspace, const Input* texts, std::size_t count, const Result* results) noexcept {
    const auto overlap = [&](const Written& memory) { return holds_one(memory, texts, count); };
    return in_memory_of(workspace, overlap) || overlap({results, count * sizeof *results});
}

template <class Arena, class Workspace, std::size_t... Region>
Arena arena_at(Workspace& workspace, std::index_sequence<Region...>) noexcept {
    return Arena{workspace.arena, workspace.regions[Region]...};
}

// The plan as it lies in a workspace and its regions. Of a call that has its turn.
template <class Encoder, class Workspace>
typename Encoder::Arena arena_in(Workspace& workspace) noexcept {
    return arena_at<typename Encoder::Arena>(workspace, std::make_index_sequence<Workspace::kRegions>());
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
