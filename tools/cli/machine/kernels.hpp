// SPDX-License-Identifier: Apache-2.0
// Which kernel set computes.
#pragma once

#include <optional>
#include <string_view>

namespace etch::cli {

// --kernel, else ETCH_KERNEL from the environment, else the best. A name that cannot be used ends the program with exit
// code 2 and the names that can.
void choose_kernel(std::optional<std::string_view> name);

}  // namespace etch::cli
