// SPDX-License-Identifier: Apache-2.0
// --threads: what computes beside the program's own thread.
#pragma once

#include <cstdint>

namespace etch::cli {

// Every call to the model is shared by this many threads from now on, until the program ends; 0: as many as the system
// allows. Ends the program where they cannot be had.
void use_threads(std::uint32_t threads);

// How many there are, the program's own thread included.
std::uint32_t threads();

}  // namespace etch::cli
