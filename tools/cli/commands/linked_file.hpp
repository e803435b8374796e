// SPDX-License-Identifier: Apache-2.0
// Sizes of this program's own file, from its section headers.
#pragma once

#include <cstddef>
#include <optional>

namespace etch::cli {

// Bytes of the sections that are loaded from the file into memory; shared libraries are not part of the file.
struct LinkedFile {
    std::size_t instructions;  // .text, .plt, .init, …
    std::size_t read_only;     // .rodata, .eh_frame, … with the model's tables
    std::size_t writable;      // .data, .got, …
};

// Nothing where the file cannot be read or has no section headers.
std::optional<LinkedFile> measure_linked_file();

}  // namespace etch::cli
