// SPDX-License-Identifier: Apache-2.0
// A layer of PyTorch's GRU behind its input products: what each row of a text takes from the row before it, in one
// direction or in both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/linear.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Rows of the longest text.
constexpr std::uint32_t most_rows(const Texts& texts) noexcept {
    std::uint32_t most = 0;
    for (std::uint32_t text = 0; text < texts.count; ++text)
        most = texts.texts[text].count > most ? texts.texts[text].count : most;
    return most;
}

// Bytes of a worker's scratch; those of 4-bit weights that are expanded come behind it.
constexpr std::size_t gru_scratch_bytes(Packing packing, std::uint32_t width) noexcept {
    return aligned_bytes(std::size_t{3} * width * sizeof(float)) + aligned_bytes(encoded_row_bytes(packing, width));
}

// Some steps of every text; step s is row s of a text in the first direction, row count - 1 - s in the second. Ops for
// the steps of a text come in their order. With a the direction's part of the row's input, h the row before in its
// direction, +0.0f at the first step, and b = W h + bias, gates in the order r, z, n:
//     r = sigmoid(a_r + b_r)    z = sigmoid(a_z + b_z)    n = tanh(a_n + (r * b_n))    out = ((1.0f - z) * n) + (z * h)
// b is what Quantize and LinearS8 make of h, or LinearF32. An out below 2^-40 in magnitude is +0.0f, so that z * h is
// never subnormal; where r * b_n is, it is too small to change n. Units: directions of texts.
template <class Weights>
struct Gru {
    const Weights* forward;   // W and bias of the first direction, [3 * width][width]
    const Weights* backward;  // of the second; null: there is none
    const Texts& texts;
    RowBlock steps;
    F32Rows input;  // [rows][directions * 3 * width]
    F32Rows out;    // [rows][directions * width]

    std::uint32_t directions() const noexcept { return backward == nullptr ? 1 : 2; }
    std::uint32_t units() const noexcept { return texts.count * directions(); }
    std::uint64_t cost() const noexcept {
        const std::uint64_t width = forward->inputs;
        return units() * steps.count * width * (3 * width * Weights::kCostOfElement + 3 * kCostOfValue);
    }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using GruS8 = Gru<S8Weights>;
using GruF32 = Gru<F32Weights>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
