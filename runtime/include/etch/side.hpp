// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// What a text is to a model that gives a vector for each token.
enum class Side : std::uint8_t {
    document,
    query,
};

// How the texts of a side are read, and which of their tokens have a vector.
struct SideRules {
    std::uint32_t max_tokens;     // longer texts are cut
    std::uint32_t least_tokens;   // shorter ones are filled up
    std::int32_t filler;          // with tokens of this id,
    bool filler_is_seen;          // which the text's tokens attend to, or not: these always attend to all of the text's
    const std::int32_t* skipped;  // [skipped_count] ids of tokens without a vector, ascending
    std::uint32_t skipped_count;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
