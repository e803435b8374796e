// SPDX-License-Identifier: Apache-2.0
// Rows of three texts for ops that carry a matrix of each head from row to row, and the ways to hand them over that
// make no difference. `Values` are the rows of all texts with an op's weights: `shape`, `out_width`, `scratch_bytes()`,
// and `step(texts, states, out)` and `rule(block, texts, state, out)`, the op in both forms.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "etch/ops/texts.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/scalar/math.hpp"
#include "support.hpp"
#include "units.hpp"

namespace etch::testing {

inline constexpr TextRows kTexts[] = {whole_text(1), whole_text(9, 1, 16), whole_text(4, 10, 32)};
inline constexpr std::uint32_t kTextCount = 3;
inline constexpr std::uint32_t kRows = 14;
inline constexpr std::uint32_t kLongest = 9;
inline constexpr std::uint32_t kRoom = 16;

inline float kept(float x) {
    return std::fabs(x) < 0x1p-40f ? 0.0f : x;
}

inline float softplus(float x) {
    return (x > 0.0f ? x : 0.0f) + scalar::log1p(scalar::exp2(std::fabs(x) * polynomials::kMinusLog2E));
}

template <class Values>
std::size_t state_floats(const Values& of) {
    return of.shape.heads * of.shape.state();
}

// Rows of all texts, `at_once` of each in a pass; every state begins with what another text has left.
template <class Values>
std::vector<float> stepped(Values& of, std::uint32_t at_once, const KernelSet& kernels) {
    std::vector<float> out(kRows * of.out_width, NAN);
    std::vector<float> states(kTextCount * state_floats(of), NAN);
    EdgeArray<std::uint8_t> scratch(of.scratch_bytes(), 0x5A);
    for (std::uint32_t position = 0; position < kLongest; position += at_once) {
        for (const TextRows& text : kTexts) {  // a pass of its own, its rows lie where they are
            if (position >= text.count) continue;
            const std::uint32_t some = text.count - position < at_once ? text.count - position : at_once;
            const TextRows rows[] = {{text.first + position, some, position, position + some, text.place}};
            const Texts one = {rows, 1};
            run_backwards(of.step(one, states.data(), out.data()), {kernels, scratch.data()});
        }
    }
    return out;
}

// All rows in blocks; the state begins with what another batch has left.
template <class Values>
std::vector<float> in_blocks(Values& of, const Texts& texts, std::uint32_t block_rows, const KernelSet& kernels) {
    std::vector<float> out(texts.rows() * of.out_width, NAN);
    std::vector<float> state(state_floats(of), NAN);
    EdgeArray<std::uint8_t> scratch(of.scratch_bytes(), 0x5A);
    for (const RowBlock block : RowBlocks(texts.rows(), block_rows)) {
        const auto op = of.rule(block, texts, state.data(), out.data());
        EXPECT_EQ(op.units(), of.shape.heads);
        run_backwards(op, {kernels, scratch.data()});
    }
    return out;
}

// The rows of all texts in one pass.
template <class Values>
std::vector<float> together(Values& of, const KernelSet& kernels) {
    std::vector<float> out(kRows * of.out_width, NAN);
    std::vector<float> states(kTextCount * state_floats(of), NAN);
    EdgeArray<std::uint8_t> scratch(of.scratch_bytes(), 0x5A);
    const Texts texts = {kTexts, kTextCount};
    const auto op = of.step(texts, states.data(), out.data());
    EXPECT_EQ(op.units(), kTextCount * of.shape.heads);
    op.run({kernels, scratch.data()}, 0, op.units());
    return out;
}

template <class Values>
void expect_steps(Values& of, const std::vector<float>& want) {
    for (const KernelSet* kernels : usable_sets()) {
        for (const std::uint32_t at_once : {1u, 2u, kLongest})
            EXPECT_TRUE(same_bits(stepped(of, at_once, *kernels), want)) << kernels->name << " " << at_once;
    }
}

template <class Values>
void expect_blocks(Values& of, const std::vector<float>& want) {
    for (const KernelSet* kernels : usable_sets()) {
        for (const std::uint32_t rows : {1u, 2u, 5u, 10u, kRows})
            EXPECT_TRUE(same_bits(in_blocks(of, {kTexts, kTextCount}, rows, *kernels), want)) << kernels->name << rows;
    }
}

}  // namespace etch::testing
