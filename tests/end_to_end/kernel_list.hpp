// SPDX-License-Identifier: Apache-2.0
// For programs whose argument names kernels, of the model that ETCH_MODEL_HEADER and ETCH_MODEL name.
#pragma once

#include ETCH_MODEL_HEADER

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// Of `list` those that this CPU can run are printed, best first, and the program ends.
inline void list_kernels_if_asked(std::string_view name) {
    if (name != "list") return;
    for (std::size_t i = 0; !etch::ETCH_MODEL::usable_kernel(i).empty(); ++i) {
        const std::string_view usable = etch::ETCH_MODEL::usable_kernel(i);
        std::printf("%.*s\n", static_cast<int>(usable.size()), usable.data());
    }
    std::exit(0);
}
