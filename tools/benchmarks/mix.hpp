// SPDX-License-Identifier: Apache-2.0
// In which of its ways avx2 multiplies rows.
#pragma once

#include <cstdint>

#include "etch/ops/rows.hpp"
#include "limits.hpp"

namespace etch::bench {

// Of rows as avx2 encodes them, longer than 64 values, by weights of 8 bits (Operands::s8) or of 7 (s7).
Mix mix_of(const QuantizedRows& a, std::uint32_t rows, std::uint32_t k, Operands operands);

}  // namespace etch::bench
