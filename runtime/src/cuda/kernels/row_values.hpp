// SPDX-License-Identifier: Apache-2.0
// Where the kernels that work on whole rows take a row's values from, and where they put them.
//
// A source has `at(row, column)`; a sink has `store(block, row, values, width)`, called by the whole block with the row
// in shared memory, and says whether the row must have the contract's bits. Strides are in elements.
#pragma once

#include <cstdint>

#include "../../kernels/scalar/quantization.hpp"
#include "bf16.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// The product of quantized rows and quantized weights: (float(sum) * row scale) * column scale + bias.
struct S32Source {
    const std::int32_t* sums;  // [rows][stride]
    std::uint32_t stride;
    const float* row_scales;     // [rows]
    const float* column_scales;  // [width]
    const float* bias;           // [width]; null: +0.0f is added

    ETCH_DEVICE float at(std::uint32_t row, std::uint32_t column) const noexcept {
        const float sum = static_cast<float>(sums[std::size_t{row} * stride + column]);
        return (sum * row_scales[row]) * column_scales[column] + (bias == nullptr ? 0.0f : bias[column]);
    }
};

struct F32Source {
    const float* values;  // [rows][stride]
    std::uint32_t stride;

    ETCH_DEVICE float at(std::uint32_t row, std::uint32_t column) const noexcept {
        return values[std::size_t{row} * stride + column];
    }
};

struct Bf16Source {
    const Bf16* values;  // [rows][stride]
    std::uint32_t stride;

    ETCH_DEVICE float at(std::uint32_t row, std::uint32_t column) const noexcept {
        return to_float(values[std::size_t{row} * stride + column]);
    }
};

// Quantized with one scale per row, zeros from `width` to `stride`.
struct S8Sink {
    static constexpr bool kExact = true;

    std::int8_t* q;  // [rows][stride]
    std::uint32_t stride;
    float* scales;  // [rows]

    template <class Block>
    ETCH_DEVICE void store(Block& block, std::uint32_t row, const float* values, std::uint32_t width) const noexcept {
        typename Block::template PerThread<float> largest;
        block.threads([&](std::uint32_t thread) {
            float mine = 0.0f;
            for (std::uint32_t i = thread; i < width; i += Block::kThreads) {
                const float magnitude = scalar::absolute(values[i]);
                mine = magnitude > mine ? magnitude : mine;
            }
            largest[thread] = mine;
        });
        const scalar::Quantization to = scalar::quantization_of(block.max(largest));
        block.threads([&](std::uint32_t thread) {
            for (std::uint32_t i = thread; i < stride; i += Block::kThreads) {
                const std::int32_t rounded = i < width ? scalar::round_to_int(values[i] * to.factor) : 0;
                q[std::size_t{row} * stride + i] = static_cast<std::int8_t>(rounded);
            }
            if (thread == 0) scales[row] = to.scale;
        });
    }
};

// Zeros from `width` to `stride`.
struct Bf16Sink {
    static constexpr bool kExact = false;

    Bf16* values;  // [rows][stride]
    std::uint32_t stride;

    template <class Block>
    ETCH_DEVICE void store(Block& block, std::uint32_t row, const float* from, std::uint32_t width) const noexcept {
        block.threads([&](std::uint32_t thread) {
            for (std::uint32_t i = thread; i < stride; i += Block::kThreads)
                values[std::size_t{row} * stride + i] = to_bf16(i < width ? from[i] : 0.0f);
        });
    }
};

// Columns from `width` on are not written.
struct F32Sink {
    float* values;  // [rows][stride]; null: nothing is stored
    std::uint32_t stride;

    template <class Block>
    ETCH_DEVICE void store(Block& block, std::uint32_t row, const float* from, std::uint32_t width) const noexcept {
        if (values == nullptr) return;
        block.threads([&](std::uint32_t thread) {
            for (std::uint32_t i = thread; i < width; i += Block::kThreads)
                values[std::size_t{row} * stride + i] = from[i];
        });
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
