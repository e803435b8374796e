// SPDX-License-Identifier: Apache-2.0
// Ordinary English for measurements, so that a text costs what a user's text costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../model.hpp"

namespace etch::cli {

// A text that has at least `tokens` tokens in most vocabularies.
std::string sample_text(std::uint32_t tokens);

// Ids of the sample text, cut to exactly `count`, special tokens at both ends included (the first alone where count is
// 1).
std::vector<std::int32_t> sample_ids(std::uint32_t count);

}  // namespace etch::cli
