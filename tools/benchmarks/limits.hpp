// SPDX-License-Identifier: Apache-2.0
// What the multipliers of one core can do: a set's own sequence of instructions for a matrix product, on registers
// only, without a load or a dependency that would have to be waited for.
#pragma once

#include <string_view>

namespace etch::bench {

enum class Operands { s8, f32 };

// GMAC/s now, in about 5 ms: the best of a few short runs, since other work on the machine can only slow them down.
// 0 where no such sequence is written down for the set.
double measured_limit(std::string_view kernel_set, Operands operands);

}  // namespace etch::bench
