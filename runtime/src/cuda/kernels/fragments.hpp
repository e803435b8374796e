// SPDX-License-Identifier: Apache-2.0
// Operands of the tensor cores' products as their lanes hold them: of 16 x 16 by 16 x 8 bf16 (PTX mma.m16n8k16), two
// values in a word, and of 16 x 32 by 32 x 8 s8 (mma.m16n8k32), four, the first in the lowest bits. With g = lane / 4,
// t = lane % 4, and of bf16:
//     Left   [16][16]  words[0]: row g, columns 2t, 2t + 1; words[1]: row g + 8; words[2], words[3]: columns + 8
//     Right  [16][8]   words[0]: rows 2t, 2t + 1 of column g; words[1]: rows + 8
//     Sums   [16][8]   of[0], of[1]: row g, columns 2t, 2t + 1; of[2], of[3]: row g + 8
// Of s8 words have columns or rows 4t to 4t + 3, later ones those + 16; sums are IntegerSums.
#pragma once

#include <cstdint>

#include "../../kernels/device.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

struct Left {
    std::uint32_t words[4];
};

struct Right {
    std::uint32_t words[2];
};

struct Sums {
    float of[4];
};

struct IntegerSums {
    std::int32_t of[4];
};

// Of the rows g and g + 8 of a lane's sums.
struct Pair {
    float of[2];
};

// The column of a lane's i-th sum, where tiles of sums follow one another.
ETCH_DEVICE inline std::uint32_t column_of_sum(std::uint32_t lane, std::uint32_t i) noexcept {
    return i / 4 * 8 + lane % 4 * 2 + i % 2;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
