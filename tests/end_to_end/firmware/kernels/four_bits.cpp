// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits. A set that expands them: every length around the groups, every nibble and factor (what s8 cannot
// hold wraps alike), and what lies behind the rows. A set with a product of its own: scalar's product by what scalar
// expands, at sizes around every tile, all values of out.
#include "values.hpp"

namespace checks {
namespace {

using etch::Activation;
using etch::KernelSet;

constexpr std::uint32_t kOutputs = 3;
constexpr std::uint32_t kMost = 132;
constexpr std::size_t kBehind = 16;

// With the arrays of the other checks these fit the RAM of netduinoplus2.
constexpr std::uint32_t kMaxRows = 5;
constexpr std::uint32_t kMaxN = 37;
constexpr std::uint32_t kMaxK = 400;
constexpr std::uint32_t kMaxWeights = 37 * 128;  // with padding
constexpr std::uint32_t kColumnsBehind = 3;      // floats of a row of out that are no columns

alignas(16) std::int8_t q[kMaxWeights / 2];
std::uint8_t factors[kMaxWeights / etch::kS4Group];
alignas(16) std::int8_t expanded[kMaxWeights];
alignas(16) std::int8_t got[kOutputs * (kMost + 16) + kBehind];
alignas(16) std::int8_t want[sizeof got];

float x[kMaxK];
alignas(16) std::uint8_t encoded[kMaxRows * kMaxK];
float row_scales[kMaxRows];
float column_scales[kMaxN];
float bias[kMaxN];
float got_out[kMaxRows * (kMaxN + kColumnsBehind)];
float want_out[kMaxRows * (kMaxN + kColumnsBehind)];

void check_expansion(const KernelSet& set, const KernelSet& scalar, Report& report) noexcept {
    for (std::uint32_t k = 1; k <= kMost; ++k) {
        Random random(k);
        for (std::int8_t& byte : q)
            byte = static_cast<std::int8_t>(random.bits());
        for (std::uint8_t& factor : factors)
            factor = static_cast<std::uint8_t>(1 + random.bits() % 18);
        for (std::uint32_t n = 1; n <= kOutputs; ++n) {
            std::memset(got, 77, sizeof got);
            std::memset(want, 77, sizeof want);
            set.expand_s4(q, factors, n, k, got);
            scalar.expand_s4(q, factors, n, k, want);
            report.expect(same_bits(got, want, sizeof got), "expand_s4", n, k);
        }
    }
}

struct Case {
    std::uint32_t rows;
    std::uint32_t k;
    std::uint32_t n;
    Activation activation = Activation::none;
    bool residual = false;
    std::uint32_t first_panel = 0;
};

// Each nibble as large as its factor allows where `largest` is not 0, of its sign; else random ones.
void fill_weights(const Case& c, int largest) noexcept {
    using etch::Packing;
    Random random(c.rows * 7919 + c.k * 104729 + c.n);
    std::memset(q, 0, sizeof q);
    for (std::uint32_t n = 0; n < c.n; ++n) {
        for (std::uint32_t k = 0; k < c.k; ++k) {
            std::uint8_t& factor = factors[etch::packed_s4_factor_index(Packing::rows, n, k, c.k)];
            if (k % etch::kS4Group == 0)
                factor = static_cast<std::uint8_t>(largest != 0 ? 127 : 1 + random.bits() % 127);
            const int most = 127 / factor;
            int value = static_cast<int>(random.bits() % 16) - 8;
            value = value > most ? most : value < -most ? -most : value;
            if (largest != 0) value = largest;
            std::int8_t& byte = q[etch::packed_s4_index(Packing::rows, n, k, c.k)];
            const int bits = (value & 15) << (etch::packed_s4_high(Packing::rows, k) ? 4 : 0);
            byte = static_cast<std::int8_t>(byte | bits);
        }
    }
}

void check_product(const KernelSet& set, const KernelSet& scalar, const Case& c, Report& report,
                   int largest = 0) noexcept {
    fill_weights(c, largest);
    Random random(c.k);
    const std::size_t stride = etch::round_up(c.k, 16);
    for (std::uint32_t row = 0; row < c.rows; ++row) {
        random.fill(x, c.k, largest != 0 ? 0.0f : 3.0f, largest != 0 ? 1.0f : 0.0f);
        row_scales[row] = scalar.quantize_row(x, c.k, encoded + row * stride);
    }
    random.fill(column_scales, c.n, 0.005f, 0.01f);
    random.fill(bias, c.n);
    const std::uint32_t panels = (c.n + 15) / 16;
    for (float* out : {got_out, want_out}) {
        Random(c.n).fill(out, sizeof got_out / sizeof *got_out);
        etch::MatmulS8 m{{encoded, row_scales, stride},
                         q,
                         column_scales,
                         bias,
                         c.residual ? out : nullptr,
                         out,
                         c.n + kColumnsBehind,
                         c.rows,
                         c.k,
                         c.n,
                         c.activation};
        if (out == got_out) {
            set.matmul_s4(m, factors, c.first_panel, panels);
        } else {
            scalar.expand_s4(q, factors, c.n, c.k, expanded);
            m.weights = expanded;
            scalar.matmul_s8(m, c.first_panel, panels);
        }
    }
    report.expect(same_bits(got_out, want_out, sizeof got_out), "s4: rows, k, n", c.rows, c.k, c.n);
}

void check_products_s4(const KernelSet& set, const KernelSet& scalar, Report& report) noexcept {
    for (std::uint32_t rows = 1; rows <= kMaxRows; ++rows) {
        for (const std::uint32_t k : {1u, 15u, 16u, 17u, 31u, 32u, 33u, 48u, 49u, 96u, 127u, 128u, 129u, 144u, 161u}) {
            for (const std::uint32_t n : {1u, 2u, 3u, 16u, 17u, k > 128 ? 24u : 37u})
                check_product(set, scalar, {rows, k, n}, report);
        }
        for (const std::uint32_t k : {255u, 256u, 257u, 272u, 384u, 400u})
            check_product(set, scalar, {rows, k, 5}, report);
        for (const bool residual : {false, true}) {
            for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu}) {
                check_product(set, scalar, {rows, 96, 37, activation, residual}, report);
                check_product(set, scalar, {rows, 96, 37, activation, residual, 1}, report);
            }
        }
        for (const int largest : {1, -1})
            check_product(set, scalar, {rows, kMaxK, 6}, report, largest);
    }
}

}  // namespace

void check_4_bits(const KernelSet& set, const KernelSet& scalar, Report& report) noexcept {
    if (set.expand_s4 == nullptr) return check_products_s4(set, scalar, report);
    check_expansion(set, scalar, report);
}

}  // namespace checks
