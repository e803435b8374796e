// SPDX-License-Identifier: Apache-2.0
// The real part of the discrete Fourier transform over the rows of a text, of rows whose columns are transformed
// already: FNet (Lee-Thorp et al. 2021, arXiv:2105.03824).
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Bytes of a worker's scratch, for texts of at most so many tokens: the cosines of a text's angles, then their sines.
constexpr std::size_t fourier_scratch_bytes(std::uint32_t max_tokens) noexcept {
    return aligned_bytes(std::size_t{2} * max_tokens * sizeof(float));
}

// Of a text of T rows, with h = width / 2 and c, s the cosine and sine of 2 pi n m / T, for columns k from 0 to h:
//     even = sum in order over rows m of c * input[m][k], odd = sum in order of s * input[m][h + 1 + k]
//     out[n][k] = even - odd; out[n][width - k] = even + odd, for the columns behind h
// The angles are computed (runtime/ARITHMETIC.md, Fourier transforms). `input` and `out` are different memory. Units:
// rows.
struct FourierRows {
    RowBlock block;
    const Texts& texts;
    F32Rows input;  // of all texts, packed: [rows][2 * (width / 2 + 1)]
    F32Rows out;    // [block.count][width]

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count * block.count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
