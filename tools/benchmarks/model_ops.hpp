// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "options.hpp"
#include "table.hpp"

namespace etch::bench {

// Time per op of the model's own forward pass over a text of `tokens`, the median of several runs each; ops of one
// type and shape are added up.
void report_ops(std::uint32_t tokens, const Options& options, Table& table);

}  // namespace etch::bench
