// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace etch::stack {

// A key of the call graph for people: "avx2::matmul_s8" instead of
// "3:_ZN4etch4abi14avx212_GLOBAL__N_19matmul_s8ERKNS0_8MatmulS8Ejj". Without arguments and template arguments.
std::string readable(const std::string& key);

}  // namespace etch::stack
