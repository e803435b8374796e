// SPDX-License-Identifier: Apache-2.0
// Operands of the tensor cores' product of 16 x 16 by 16 x 8 bf16 (PTX mma.m16n8k16) as its lanes hold them, two values
// in a word, the first in the lower half. With g = lane / 4 and t = lane % 4:
//     Left   [16][16]  words[0]: row g, columns 2t, 2t + 1; words[1]: row g + 8; words[2], words[3]: columns + 8
//     Right  [16][8]   words[0]: rows 2t, 2t + 1 of column g; words[1]: rows + 8
//     Sums   [16][8]   of[0], of[1]: row g, columns 2t, 2t + 1; of[2], of[3]: row g + 8
#pragma once

#include <cstdint>

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

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
