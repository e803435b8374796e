// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "options.hpp"
#include "table.hpp"

namespace etch::bench {

// Time per op of the model's own forward pass over a text of `tokens` in so many threads, the median of several runs
// each; ops of one type and shape are added up. Nothing where the threads cannot be had.
void report_ops(std::uint32_t tokens, std::uint32_t threads, const Options& options, Table& table);

}  // namespace etch::bench
