// SPDX-License-Identifier: Apache-2.0
// The entries of a vocabulary that a text says something of: a sparse embedding.
#pragma once

#include <cstdint>

#include "etch/ops/rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// An entry and what it weighs, above 0.
struct TokenWeight {
    std::int32_t id;
    float weight;
};

// Writes the `capacity` largest of `dense` [1][entries] that are above 0, or all where these are fewer, the largest
// first, of equal ones the smaller id. Returns how many there are in all.
std::uint32_t find_weights(const F32Rows& dense, TokenWeight* found, std::uint32_t capacity) noexcept;

// Puts the smallest id first, in place: dot_product() of etch/similarity.hpp goes through such a list once. Takes about
// 2 * count * log2(count) comparisons.
void sort_by_id(TokenWeight* weights, std::uint32_t count) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
