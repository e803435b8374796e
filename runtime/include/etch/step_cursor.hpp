// SPDX-License-Identifier: Apache-2.0
// How far a call in steps has come. It lies in the workspace, beside the arena that holds all else of the call.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct KernelSet;

struct StepCursor {
    // Those that the workspace had when the call began: what is in the arena is encoded for them. Null: no call in
    // steps is under way.
    const KernelSet* kernels = nullptr;

    std::uint32_t op = 0;    // all before this one of the forward pass are done
    std::uint32_t unit = 0;  // and of this one all before this unit

    bool truncated = false;  // the text was cut

    std::uint8_t found = 0;  // sequences of a search that is over, which lie in the arena until the next call

    std::uint8_t group = 0;  // texts of a batch that are under way together; 0: it is a call of one text
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
