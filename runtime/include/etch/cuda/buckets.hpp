// SPDX-License-Identifier: Apache-2.0
// Numbers of rows that products are made for. An algorithm of cuBLASLt belongs to one such number, a CUDA graph too.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

inline constexpr std::uint32_t kBucketRows = 32;

// Keeps every size in bytes far from 2^64 and every row number in 32 bits.
inline constexpr std::uint32_t kMostRows = 1u << 20;

// Steps between buckets near `rows`: 32 up to 1024 rows, then a sixteenth of the power of two below, so that no more
// than 1/16 of the work is for rows that nobody reads.
constexpr std::uint32_t bucket_step(std::uint32_t rows) noexcept {
    std::uint32_t step = kBucketRows;
    while (step * 32 < rows)
        step *= 2;
    return step;
}

// The smallest bucket that holds `rows`, 1 to kMostRows.
constexpr std::uint32_t bucket(std::uint32_t rows) noexcept {
    const std::uint32_t step = bucket_step(rows);
    return (rows + step - 1) / step * step;
}

// How many buckets there are up to that of `rows`.
constexpr std::uint32_t bucket_count(std::uint32_t rows) noexcept {
    std::uint32_t count = 0;
    for (std::uint32_t b = kBucketRows;; b = bucket(b + 1)) {
        ++count;
        if (b >= rows) return count;
    }
}

// What a session has room for in one pass.
struct Capacity {
    std::uint32_t rows;   // a bucket
    std::uint32_t texts;  // so many that the places of their tokens are at most about twice the rows
};

constexpr Capacity capacity_of(std::uint32_t rows) noexcept {
    constexpr std::uint32_t kMostBlocks = 65535;  // of a grid in y and in z, where attention has its texts
    const std::uint32_t most = bucket(rows);
    return {most, most / 16 < kMostBlocks ? most / 16 : kMostBlocks};
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
