// SPDX-License-Identifier: Apache-2.0
// Texts of every length up to one.
#pragma once

#include <cstdint>
#include <vector>

#include "etch/ops/texts.hpp"
#include "etch/packing.hpp"

namespace etch::testing {

// Of 1 to `longest` tokens, one behind the other, each at a place of its own.
inline std::vector<TextRows> texts_up_to(std::uint32_t longest) {
    std::vector<TextRows> found;
    std::uint32_t first = 0;
    for (std::uint32_t count = 1; count <= longest; ++count) {
        found.push_back(whole_text(count, first, count * kPanelWidth));
        first += count;
    }
    return found;
}

}  // namespace etch::testing
