// SPDX-License-Identifier: Apache-2.0
#include "mix.hpp"

#include <algorithm>
#include <cstddef>

namespace etch::bench {
namespace {

constexpr std::uint32_t kTileRows = 3;
constexpr std::uint32_t kStep = 8;

// The largest of what the lanes of 16 bits of a step add up: of values of one sign, in all four products of a lane and
// in two.
struct LargestSums {
    int of_four = 0;
    int of_two = 0;
};

// Lanes get k 0, 1, 4, 5 and 2, 3, 6, 7.
LargestSums largest_sums(const std::int8_t* step) {
    LargestSums largest;
    for (const int sign : {1, -1}) {
        for (std::size_t lane = 0; lane < kStep / 2; lane += 2) {
            const auto two = [&](std::size_t i) {
                return std::max(0, sign * step[i]) + std::max(0, sign * step[i + 1]);
            };
            const int first = two(lane);
            const int second = two(lane + kStep / 2);
            largest.of_four = std::max(largest.of_four, first + second);
            largest.of_two = std::max({largest.of_two, first, second});
        }
    }
    return largest;
}

}  // namespace

Mix mix_of(const QuantizedRows& a, std::uint32_t rows, std::uint32_t k, Operands operands) {
    // Of a step's 16-bit sums: w + 128 is at most 255, w + 64 of 7 bits at most 127.
    const int most = 32767 / (operands == Operands::s7 ? 127 : 255);
    double steps[3] = {};
    for (std::uint32_t row = 0; row < rows; row += kTileRows) {
        const std::uint32_t count = std::min(kTileRows, rows - row);
        for (std::uint32_t i = 0; i + kStep <= k; i += kStep) {
            LargestSums tile;
            for (std::uint32_t r = row; r < row + count; ++r) {
                const auto* const values = reinterpret_cast<const std::int8_t*>(a.data + r * a.stride_bytes);
                const LargestSums sums = largest_sums(values + i);
                tile.of_four = std::max(tile.of_four, sums.of_four);
                tile.of_two = std::max(tile.of_two, sums.of_two);
            }
            steps[tile.of_four <= most ? 0 : tile.of_two <= most ? 1 : 2] += count;
        }
    }
    const double all = steps[0] + steps[1] + steps[2];
    return {steps[0] / all, steps[1] / all, steps[2] / all};
}

}  // namespace etch::bench
