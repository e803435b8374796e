// SPDX-License-Identifier: Apache-2.0
// Ops unit by unit, in the order that would show a unit which waits for another.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"

namespace etch::testing {

// The last unit first.
template <class Op>
void run_backwards(const Op& op, const OpContext& context) {
    for (std::uint32_t unit = op.units(); unit-- > 0;)
        op.run(context, unit, unit + 1);
}

}  // namespace etch::testing
