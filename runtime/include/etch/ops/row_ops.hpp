// SPDX-License-Identifier: Apache-2.0
// Ops that work on each row by itself. Units: rows.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Quantizes each row to s8 with one scale per row.
struct Quantize {
    std::uint32_t count;
    F32Rows input;  // [count][width]
    QuantizedRows out;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

struct LayerNormWeights {
    const float* gamma;  // [width]
    const float* beta;   // [width]
    float epsilon;
    float inverse_width;  // 1 / width, rounded once
};

// In place.
struct LayerNorm {
    const LayerNormWeights& weights;
    std::uint32_t count;
    F32Rows rows;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * rows.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Moves the first row of text t to row t: what a model reads that needs no others. In place. One unit.
struct FirstRows {
    const Texts& texts;
    F32Rows rows;

    std::uint32_t units() const noexcept { return 1; }
    std::uint64_t cost() const noexcept { return kCostOfValue * texts.count * rows.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Rows of logits to probabilities: t = x * log2(e); out = exp2(t - max t) * (1.0f / sum of them). May be in place.
struct Softmax {
    std::uint32_t count;
    F32Rows input;
    F32Rows out;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Each value to a probability of its own. May be in place.
struct Sigmoid {
    std::uint32_t count;
    F32Rows input;
    F32Rows out;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
