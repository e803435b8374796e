// SPDX-License-Identifier: Apache-2.0
// How alike a model that embeds finds two texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model.hpp"

namespace etch::cli {

struct Similarity {
    float cosine;
    std::uint32_t tokens[2];
    bool truncated[2];
};

// Embeds each text on its own. A text that the model refuses ends the program with `where` and exit code 1.
Similarity compare(std::string_view first, std::string_view second, const std::string& where);

}  // namespace etch::cli
