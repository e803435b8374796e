// SPDX-License-Identifier: Apache-2.0
// Matrix products, at sizes around every tile: all values of out, those beyond
// the columns too.
#include "values.hpp"

namespace checks {
namespace {

using etch::Activation;
using etch::KernelSet;

constexpr std::uint32_t kMaxRows = 9;
constexpr std::uint32_t kMaxN = 37;
constexpr std::uint32_t kBehind = 3;  // floats of a row of out that are no columns

// As the largest of the cases below need them; together they fit the RAM of netduinoplus2.
float x[5 * 2048];
alignas(16) std::uint8_t encoded[5 * 2048];
alignas(16) std::int8_t weights[6 * 2048];
float f32_weights[7 * 1030];
float scales[kMaxRows];
float column_scales[kMaxN];
float bias[kMaxN];
float initial[kMaxRows * (kMaxN + kBehind)];
float got[kMaxRows * (kMaxN + kBehind)];
float want[kMaxRows * (kMaxN + kBehind)];

enum class Residual { none, separate, same_as_out };

struct Case {
    std::uint32_t rows;
    std::uint32_t k;
    std::uint32_t n;
    Activation activation = Activation::none;
    Residual residual = Residual::none;
    bool constants = true;  // scales of columns, bias; of rows in f32
    std::uint32_t first_panel = 0;
    std::uint32_t last_panel = UINT32_MAX;
    std::uint32_t more_k = 0;  // that weights are packed for behind the k
};

const float* residual_of(const Case& c, const float* out) noexcept {
    return c.residual == Residual::none ? nullptr : c.residual == Residual::separate ? initial : out;
}

std::uint32_t last_panel(const Case& c) noexcept {
    return c.last_panel == UINT32_MAX ? (c.n + 15) / 16 : c.last_panel;
}

void run_s8(const KernelSet& set, const Case& c, float* out) noexcept {
    const std::size_t stride = etch::round_up(c.k, 16);
    for (std::uint32_t row = 0; row < c.rows; ++row)
        scales[row] = set.quantize_row(x + row * c.k, c.k, encoded + row * stride);
    std::memcpy(out, initial, sizeof initial);
    const etch::MatmulS8 m{{encoded, scales, stride},
                           weights,
                           c.constants ? column_scales : nullptr,
                           c.constants ? bias : nullptr,
                           residual_of(c, out),
                           out,
                           c.n + kBehind,
                           c.rows,
                           c.k,
                           c.n,
                           c.activation,
                           c.k + c.more_k};
    set.matmul_s8(m, c.first_panel, last_panel(c));
}

void run_f32(const KernelSet& set, const Case& c, float* out) noexcept {
    std::memcpy(out, initial, sizeof initial);
    const etch::MatmulF32 m{x,
                            c.k,
                            f32_weights,
                            c.constants ? scales : nullptr,
                            c.constants ? bias : nullptr,
                            residual_of(c, out),
                            out,
                            c.n + kBehind,
                            c.rows,
                            c.k,
                            c.n,
                            c.activation,
                            c.k + c.more_k};
    set.matmul_f32(m, c.first_panel, last_panel(c));
}

void compare(const KernelSet& set, const KernelSet& scalar, const Case& c, Report& report) noexcept {
    const int activation = static_cast<int>(c.activation);
    run_s8(set, c, got);
    run_s8(scalar, c, want);
    report.expect(same_bits(got, want, sizeof got), "s8: rows, k, n, activation", c.rows, c.k, c.n, activation);
    if (std::size_t{c.n} * (c.k + c.more_k) > sizeof f32_weights / sizeof *f32_weights) return;
    run_f32(set, c, got);
    run_f32(scalar, c, want);
    report.expect(same_bits(got, want, sizeof got), "f32: rows, k, n, activation", c.rows, c.k, c.n, activation);
}

// Random operands; weights are padded with zeros, as the packing has them, but where they are packed for more inputs.
void fill(const Case& c) noexcept {
    Random random(c.rows * 7919 + c.k * 104729 + c.n);
    const std::size_t stride = etch::round_up(c.k + c.more_k, 16);
    random.fill(x, std::size_t{c.rows} * c.k, 3.0f);
    for (std::uint32_t column = 0; column < c.n; ++column) {
        for (std::size_t k = 0; k < stride; ++k)
            weights[column * stride + k] = k < c.k + c.more_k ? random.s8() : std::int8_t{0};
    }
    if (std::size_t{c.n} * (c.k + c.more_k) <= sizeof f32_weights / sizeof *f32_weights)
        random.fill(f32_weights, std::size_t{c.n} * (c.k + c.more_k));
    random.fill(column_scales, c.n, 0.005f, 0.01f);
    random.fill(bias, c.n);
    random.fill(initial, sizeof initial / sizeof *initial);
}

// Sums as large as they can be, of both signs.
void check_extremes(const KernelSet& set, const KernelSet& scalar, Report& report) noexcept {
    const Case c{5, 2048, 6};
    fill(c);
    for (const int sign : {1, -1}) {
        for (std::uint32_t i = 0; i < c.rows * c.k; ++i)
            x[i] = 1.0f;
        for (std::uint32_t i = 0; i < c.n * c.k; ++i)
            weights[i] = static_cast<std::int8_t>(sign * 127);
        compare(set, scalar, c, report);
    }
}

}  // namespace

void check_products(const KernelSet& set, const KernelSet& scalar, Report& report) noexcept {
    for (std::uint32_t rows = 1; rows <= kMaxRows; ++rows) {
        for (const std::uint32_t k :
             {1u, 3u, 4u, 5u, 12u, 15u, 16u, 17u, 20u, 31u, 32u, 33u, 48u, 64u, 80u, 96u, 112u, 128u, 133u}) {
            for (const std::uint32_t n : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 15u, 16u, 17u, 33u, 35u}) {
                const Case c{rows, k, n};
                fill(c);
                compare(set, scalar, c, report);
            }
        }
    }
    for (std::uint32_t rows = 1; rows <= kMaxRows; ++rows) {
        for (const std::uint32_t k : {160u, 192u, 255u, 256u, 257u, 320u, 511u, 512u, 1024u, 1030u}) {
            const Case c{rows, k, 7};
            fill(c);
            compare(set, scalar, c, report);
        }
    }
    for (int activation = 0; activation <= static_cast<int>(Activation::sigmoid); ++activation) {
        for (const Residual residual : {Residual::none, Residual::separate, Residual::same_as_out}) {
            for (const bool constants : {true, false}) {
                for (const std::uint32_t rows : {1u, 2u, 3u, 4u, 5u, 9u}) {
                    Case c{rows, 40, 37, static_cast<Activation>(activation), residual, constants};
                    fill(c);
                    compare(set, scalar, c, report);
                    c.first_panel = 1;
                    c.last_panel = 2;
                    compare(set, scalar, c, report);
                    c.last_panel = 3;
                    compare(set, scalar, c, report);
                }
            }
        }
    }
    for (const std::uint32_t rows : {1u, 2u, 3u, 4u, 5u}) {
        for (const std::uint32_t k : {1u, 4u, 13u, 16u, 17u, 48u, 128u, 130u, 256u, 300u}) {
            for (const std::uint32_t n : {1u, 2u, 3u, 7u, 8u}) {
                for (const std::uint32_t more_k : {1u, 3u, 16u, 40u, 500u}) {
                    Case c{rows, k, n};
                    c.more_k = more_k;
                    fill(c);
                    compare(set, scalar, c, report);
                }
            }
        }
    }
    check_extremes(set, scalar, report);
}

}  // namespace checks
