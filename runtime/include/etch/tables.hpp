// SPDX-License-Identifier: Apache-2.0
// Where a model's tables are when it is called: what a Workspace knows of them.
#pragma once

#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// All of them are read where the linker has put them. A model of which some are copied first has a struct with the same
// functions in its header.
struct TablesInPlace {
    // Status::ok, or tables_not_copied.
    static constexpr Status check() noexcept { return Status::ok; }
    static constexpr void copy() noexcept {}
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
