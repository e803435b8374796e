// SPDX-License-Identifier: Apache-2.0
// Ops that work on each row by itself. Units: rows. Each formula rounds after every operation, in its order; sums along
// a row are those of the arithmetic contract (runtime/ARITHMETIC.md). Rows of inputs and outputs lie apart, but where
// an op may be in place.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Quantizes each row to s8 with one scale per row: m = max |x|; r = 127.0f / m; q = x * r, rounded to the nearest
// integer, half to even; scale = m * (1/127). Where m < 2^-40 all of q is 0, and the scale.
struct Quantize {
    std::uint32_t count;
    F32Rows input;  // [count][width]
    QuantizedRows out;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

struct LayerNormWeights {
    const float* gamma;  // [heads][width]
    const float* beta;   // [heads][width]
    float epsilon;
    float inverse_width;  // 1 / width, rounded once
};

// mu = sum(x) * inverse_width; d = x - mu; v = sum(d * d) * inverse_width; out = (d * (1 / sqrt(v + epsilon))) * gamma
// + beta. In place where no `out` is given. Of `heads` row r has the weights of head r % heads.
struct LayerNorm {
    const LayerNormWeights& weights;
    std::uint32_t count;
    F32Rows input;  // [count][width]
    F32Rows out = input;
    std::uint32_t heads = 1;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

struct RmsNormWeights {
    const float* gamma;  // [heads][width]
    float epsilon;
    float inverse_width;  // as above
};

// v = sum(x * x) * inverse_width; out = (x * (1 / sqrt(v + epsilon))) * gamma. In place where no `out` is given. Of
// `heads` as above.
struct RmsNorm {
    const RmsNormWeights& weights;
    std::uint32_t count;
    F32Rows input;  // [count][width]
    F32Rows out = input;
    std::uint32_t heads = 1;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

struct AffineWeights {
    const float* gamma;  // [width]
    const float* beta;   // [width]
};

// What a norm does behind its division, alone: (x * gamma) + beta, kept within -2^32 and 2^32, for nothing else bounds
// rows that are never divided by their size. In place where no `out` is given.
struct Affine {
    const AffineWeights& weights;
    std::uint32_t count;
    F32Rows input;  // [count][width]
    F32Rows out = input;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// out = a * b: the gate of a linear, act(g) * u. `out` may be a or b.
struct Multiply {
    std::uint32_t count;
    F32Rows a;  // [count][width]
    F32Rows b;
    F32Rows out;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// out = a + b. `out` may be a or b.
struct Add {
    std::uint32_t count;
    F32Rows a;  // [count][width]
    F32Rows b;
    F32Rows out;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// What a layer's xIELU (Huang, 2024, arXiv:2411.13010) was trained to be.
struct XieluWeights {
    float square;  // of x above 0
    float power;   // of e^x - 1 - x of the others,
    float most;    // not above 0: in the power x counts as no more
    float linear;  // of every x
};

// In place: x above 0 becomes ((x * square) * x) + (x * linear); every other one with e = exp2(min(x, most) * log2(e))
// (((e - 1) - x) * power) + (x * linear).
struct Xielu {
    const XieluWeights& weights;
    std::uint32_t count;
    F32Rows rows;  // [count][width]

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * rows.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// What a row of position p is rotated by: of each head the first `rotated` columns, an even number, column i < rotated
// / 2 together with column i + rotated / 2.
struct RotaryTable {
    const float* cosines;  // [positions][rotated / 2], from float64
    const float* sines;
    std::uint32_t rotated;
    std::uint32_t head_width;
};

// In place: (x0, x1) becomes ((x0 * c) - (x1 * s), (x1 * c) + (x0 * s)) for the pairs of every head.
struct Rotary {
    const RotaryTable& table;
    RowBlock block;
    const Texts& texts;
    F32Rows rows;  // [block.count][heads * head_width]

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count * rows.width; }
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

// out[i] = input[rows[i]].
struct SelectRows {
    const std::uint32_t* rows;  // [count]
    std::uint32_t count;
    F32Rows input;
    F32Rows out;  // [count][width]; not in place

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * input.width; }
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

// A bound that is reached slowly: x becomes tanh(x * inverse) * limit.
struct SoftCap {
    float limit;
    float inverse;  // 1 / limit, rounded once
};

// In place.
struct Cap {
    std::uint32_t count;
    F32Rows rows;  // [count][width]
    SoftCap cap;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * rows.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Each value to a probability of its own, 1 / (1 + exp(-x)) as Activation::sigmoid has it. May be in place.
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
