// SPDX-License-Identifier: Apache-2.0
// From the rows of a text to one row.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

enum class Pooling : std::uint8_t { first, mean, max, mean_sqrt, last, ends, weighted_mean };

// Columns of a unit.
constexpr std::uint32_t kPoolColumns = 16;

// out = for each column, over the text's rows x[0], x[1], ... x[count - 1] in this order:
//     first      x[0]
//     last       x[count - 1]
//     ends       x[count - 1] in the first half of the columns, x[0] in the other: the last states of two directions
//     mean       sum of x * (1.0f / float(count))
//     max        m = x[0]; m = x[r] > m ? x[r] : m
//     mean_sqrt  sum of x * (1.0f / sqrt(float(count)))
//     weighted_mean  sum of x[r] * float(r + 1), times 1.0f / (float(count) * float(count + 1) * 0.5f)
// Sums start at +0.0f. Values below 2^-40 in magnitude count as +0.0f, so that no subnormal can decide a bit. Units:
// groups of kPoolColumns columns; a column's bits do not depend on the others. Of a row that is narrower than those of
// the text the first columns are computed.
struct Pool {
    Pooling kind;
    std::uint32_t count;  // rows of the text, at least 1
    F32Rows input;        // [count][width]
    F32Rows out;          // [1][at most width]; not in place

    std::uint32_t units() const noexcept { return (out.width + kPoolColumns - 1) / kPoolColumns; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// In place: x = x * (1.0f / (length > 1e-12f ? length : 1e-12f)); length = sqrt(sum of x * x), a row sum of 16
// partials. Values below 2^-40 in magnitude count as +0.0f, also in the squares. Units: rows.
struct Normalize {
    std::uint32_t count;
    F32Rows rows;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * rows.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
