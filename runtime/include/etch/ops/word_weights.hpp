// SPDX-License-Identifier: Apache-2.0
// What a text says of each entry of a vocabulary: from its rows to one row of weights, as SPLADE has them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/linear.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

enum class WordPooling : std::uint8_t { max, sum };

// Logits that are there at a time, of each worker: those of all rows and entries would be megabytes.
constexpr std::uint32_t kWordRows = 16;
constexpr std::uint32_t kWordEntries = 6 * kPanelWidth;

// Bytes of a worker's scratch; those of 4-bit weights that are expanded come behind it.
constexpr std::size_t word_weights_scratch_bytes() noexcept {
    return std::size_t{kWordRows} * kWordEntries * sizeof(float);
}

// With x = max(0, input W^T + b) of a row and an entry, values below 2^-40 as +0.0f, and w(x) = log1p(x), or
// log1p(log1p(x)) where `twice`, out of an entry is
//     max    w(m), m the largest x of the text's rows
//     sum    the sum of w(x), from +0.0f, row after row
// Units: panels of kPanelWidth entries; the weights of some entries are read once, for all rows.
template <class Weights>
struct WordWeights {
    const Weights& weights;
    std::uint32_t count;            // rows of the text, at least 1
    typename Weights::Input input;  // [count][inputs]
    F32Rows out;                    // [1][outputs]
    WordPooling pooling;
    bool twice;

    std::uint32_t units() const noexcept { return (weights.outputs + kPanelWidth - 1) / kPanelWidth; }
    std::uint64_t cost() const noexcept {
        return count * (Weights::kCostOfElement * weights.inputs + kCostOfProduct) * weights.outputs;
    }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using WordWeightsS8 = WordWeights<S8Weights>;
using WordWeightsF32 = WordWeights<F32Weights>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
