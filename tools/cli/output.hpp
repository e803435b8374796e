// SPDX-License-Identifier: Apache-2.0
// Standard output. A closed pipe or a full disk ends the program with a line on stderr and exit code 1.
#pragma once

#include <string_view>

namespace etch::cli {

// From here on a closed pipe is an error of the next write, not a signal that kills the program; and on Windows bytes
// go in and out as they are, which are UTF-8 for its consoles, too.
void prepare_output();

void write_output(std::string_view bytes);

// Hands everything written so far to the operating system.
void flush_output();

}  // namespace etch::cli
