// SPDX-License-Identifier: Apache-2.0
#include "mix.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace etch::bench {
namespace {

constexpr std::uint32_t kTileRows = 3;
constexpr std::uint32_t kStep = 8;
constexpr std::uint32_t kBlockSteps = 64;
constexpr std::uint32_t kFewestQuadSteps = 52;  // of a block

// The largest of what the lanes of 16 bits add up of values of one sign in so many groups of 4 k: one lane gets k 0
// and 1 of each, the other k 2 and 3.
int largest_sum(const std::int8_t* values, std::size_t groups) {
    int largest = 0;
    for (const int sign : {1, -1}) {
        for (const std::size_t lane : {0, 2}) {
            int sum = 0;
            for (std::size_t i = lane; i < groups * 4; i += 4)
                sum += std::max(0, sign * values[i]) + std::max(0, sign * values[i + 1]);
            largest = std::max(largest, sum);
        }
    }
    return largest;
}

// At most 64 steps of a tile: the largest sums in any of its rows.
struct Block {
    std::array<int, kBlockSteps> of_two{};
    std::array<int, kBlockSteps> of_four{};
    std::array<int, kBlockSteps / 2> of_eight{};

    void add_row(const std::int8_t* values, std::uint32_t steps) {
        for (std::uint32_t i = 0; i < steps; ++i) {
            const std::int8_t* const step = values + i * kStep;
            of_two[i] = std::max({of_two[i], largest_sum(step, 1), largest_sum(step + 4, 1)});
            of_four[i] = std::max(of_four[i], largest_sum(step, 2));
            if (i % 2 == 1) of_eight[i / 2] = std::max(of_eight[i / 2], largest_sum(step - kStep, 4));
        }
    }
};

}  // namespace

Mix mix_of(const QuantizedRows& a, std::uint32_t rows, std::uint32_t k, Operands operands) {
    // Of 16-bit sums: w + 128 is at most 255, w + 64 of 7 bits at most 127.
    const int most = 32767 / (operands == Operands::s7 ? 127 : 255);
    const auto fits = [&](int sum) { return sum <= most; };
    Mix mix{0, 0, 0, 0};
    for (std::uint32_t row = 0; row < rows; row += kTileRows) {
        const std::uint32_t count = std::min(kTileRows, rows - row);
        for (std::uint32_t first = 0; first + kStep <= k; first += kBlockSteps * kStep) {
            const std::uint32_t steps = std::min(kBlockSteps, (k - first) / kStep);
            Block block;
            for (std::uint32_t r = row; r < row + count; ++r)
                block.add_row(reinterpret_cast<const std::int8_t*>(a.data + r * a.stride_bytes) + first, steps);
            const auto quads = std::count_if(block.of_eight.begin(), block.of_eight.begin() + steps / 2, fits);
            const bool has_quads = 2 * quads >= kFewestQuadSteps;
            for (std::uint32_t i = 0; i < steps; ++i) {
                const bool quad = has_quads && i / 2 < steps / 2 && fits(block.of_eight[i / 2]);
                double& part = quad                     ? mix.quad
                               : fits(block.of_four[i]) ? mix.usual
                               : fits(block.of_two[i])  ? mix.single
                                                        : mix.with_signs;
                part += count;
            }
        }
    }
    const double all = mix.quad + mix.usual + mix.single + mix.with_signs;
    return {mix.quad / all, mix.usual / all, mix.single / all, mix.with_signs / all};
}

}  // namespace etch::bench
