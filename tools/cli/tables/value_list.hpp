// SPDX-License-Identifier: Apache-2.0
// Several values in one field of a table: `joy; surprise`. The comma is taken, by csv and by many a label.
#pragma once

#include <string_view>
#include <vector>

namespace etch::cli {

// The parts between semicolons, without the spaces around them; none of a field of spaces only.
std::vector<std::string_view> split_value_list(std::string_view field);

}  // namespace etch::cli
