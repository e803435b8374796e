// SPDX-License-Identifier: Apache-2.0
// How alike a model finds two texts, or how well one answers the other: --similarity, and what --evaluate makes of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "../arguments.hpp"
#include "../model.hpp"

namespace etch::cli {

struct Similarity {
    float value;
    std::uint32_t tokens[2];
    bool truncated[2];
};

// The answer to one text. One that the model refuses ends the program with `where` and exit code 1.
Answer answer_or_fail(std::string_view text, const std::string& where);

// The similarity of each row's two texts against the scores of the label column, Pearson and Spearman.
void evaluate_similarity(const Options& options);

}  // namespace etch::cli
