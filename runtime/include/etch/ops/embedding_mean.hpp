// SPDX-License-Identifier: Apache-2.0
// The mean of the entries of a text's tokens, of one table and looked up by id: what EmbeddingSum and Pool make of it,
// without a row for each token. Token ids were checked when the call began.
#pragma once

#include <cstdint>

#include "etch/ops/embedding.hpp"
#include "etch/ops/pool.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// The bits are those of Pooling::mean over the entries. Units: groups of kPoolColumns columns. `Embedding` is
// S8Embedding or F32Embedding.
template <class Embedding>
struct EmbeddingMean {
    Embedding table;
    std::uint32_t count;      // tokens of the text, at least 1
    const std::int32_t* ids;  // [count]
    F32Rows out;              // [1][width]

    std::uint32_t units() const noexcept { return (out.width + kPoolColumns - 1) / kPoolColumns; }
    std::uint64_t cost() const noexcept { return kCostOfEmbeddedValue * count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

extern template struct EmbeddingMean<S8Embedding>;
extern template struct EmbeddingMean<F32Embedding>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
