// SPDX-License-Identifier: Apache-2.0
// What ops share that carry a matrix of each head from row to row of a text: the delta rule, state spaces.
#pragma once

#include <cstdint>
#include <cstring>

#include "../kernels/compiler.hpp"
#include "../kernels/kernel_set.hpp"
#include "../kernels/scalar/math.hpp"
#include "etch/ops/op.hpp"
#include "tiny.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// out = t(silu(x)), with t(x) = +0.0f where |x| < 2^-40, else x.
inline void activated(const OpContext& context, const float* x, std::uint32_t n, float* out) noexcept {
    std::memcpy(out, x, sizeof(float) * n);
    context.kernels.activate_row(Activation::silu, out, n);
    for (std::uint32_t i = 0; i < n; ++i)
        out[i] = without_tiny(out[i]);
}

// log(1 + e^x)
inline float softplus(float x) noexcept {
    const float magnitude = x < 0.0f ? -x : x;
    return (x > 0.0f ? x : 0.0f) + scalar::log1p(scalar::exp2(magnitude * polynomials::kMinusLog2E));
}

// What stands side by side in a row of a state, which the compiler makes one instruction each of: for every value the
// operations are the same, in the same order. Other processors have it value by value.
#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__riscv_vector) || defined(__wasm_simd128__)
using Columns [[gnu::vector_size(16)]] = float;

inline Columns without_tiny(Columns x) noexcept {
    constexpr float kLeast = polynomials::kLeastMaximum;
    return ((x < kLeast) & (x > -kLeast)) ? Columns{} : x;
}
#else
using Columns = float;
#endif

template <class Values>
constexpr std::uint32_t kCountOf = sizeof(Values) / sizeof(float);

// That go through the rows of a state, so that their sums stay in registers; vectors as many as two lines of the cache,
// which are a fifth faster than one on x86-64.
constexpr std::uint32_t kTogether = 4;
constexpr std::uint32_t kMostTogether = kCountOf<Columns> == 1 ? kTogether : 2 * kTogether;

// Goes through the first columns of a state, which are `count` Values wide, row by row: what is there becomes
// change(row, which of them, value), and out the sum in order of factors[row] times that.
template <class Values, std::uint32_t count, class Change>
void pass(float* state, std::uint32_t rows, std::uint32_t width, const float* factors, float* out,
          Change change) noexcept {
    Values sums[count] = {};
    for (std::uint32_t i = 0; i < rows; ++i) {
        float* const s = state + std::size_t{i} * width;
        const float factor = factors[i];
        ETCH_UNROLL
        for (std::uint32_t j = 0; j < count; ++j) {
            Values value;
            std::memcpy(&value, s + j * kCountOf<Values>, sizeof value);
            value = without_tiny(change(i, j, value));
            std::memcpy(s + j * kCountOf<Values>, &value, sizeof value);
            sums[j] = sums[j] + (factor * value);
        }
    }
    std::memcpy(out, sums, sizeof sums);
}

// Of the columns from `first` on as many as make whole passes of `count` Values; returns the first of the others.
template <class Values, std::uint32_t count, class ChangeOf>
std::uint32_t passes(float* state, std::uint32_t rows, std::uint32_t width, const float* factors, float* out,
                     ChangeOf change_of, std::uint32_t first) noexcept {
    constexpr std::uint32_t kColumns = count * kCountOf<Values>;
    std::uint32_t j = first;
    for (; width - j >= kColumns; j += kColumns)
        pass<Values, count>(state + j, rows, width, factors, out + j, change_of(Values{}, j));
    return j;
}

// Of all columns: those that make whole passes, then the others one by one. `change_of(values, column)` is what a pass
// of such values changes columns by, from that one on.
template <class ChangeOf>
void pass_all(float* state, std::uint32_t rows, std::uint32_t width, const float* factors, float* out,
              ChangeOf change_of) noexcept {
    std::uint32_t j = passes<Columns, kMostTogether>(state, rows, width, factors, out, change_of, 0);
    j = passes<Columns, kTogether>(state, rows, width, factors, out, change_of, j);
    passes<float, 1>(state, rows, width, factors, out, change_of, j);
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
