// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// First value of `head` in row `row`, to be written where the rows are.
template <class Rows>
auto head_of(const Rows& rows, std::uint32_t row, const HeadShape& shape, std::uint32_t head) noexcept {
    return rows.data + std::size_t{row} * rows.width + std::size_t{head} * shape.head_width;
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
