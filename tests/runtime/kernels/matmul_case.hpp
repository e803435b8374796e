// SPDX-License-Identifier: Apache-2.0
// A matrix product of tests: sizes, operands and options, computed by any set.
#pragma once

#include <cmath>
#include <optional>

#include "support.hpp"

namespace etch::testing {

inline constexpr float kUntouched = -12345.5f;

enum class Residual { none, separate, same_as_out };

struct Size {
    std::uint32_t rows;
    std::uint32_t k;
    std::uint32_t n;
};

// A product with everything that it reads and writes.
struct Case {
    Size size;
    std::vector<float> x;  // [rows][k]
    std::vector<std::int8_t> q_weights;
    std::vector<float> f32_weights;
    EdgeArray<float> column_scales;
    EdgeArray<float> bias;
    EdgeArray<float> row_scales;
    std::size_t stride;
    EdgeArray<float> residual;

    explicit Case(Size s, std::uint32_t seed = kSeed, std::size_t extra_stride = 3)
        : size(s),
          x(Random(seed).floats(std::size_t{s.rows} * s.k, 3.0f)),
          q_weights(Random(seed + 1).s8s(std::size_t{s.n} * s.k)),
          f32_weights(Random(seed + 2).floats(std::size_t{s.n} * s.k)),
          column_scales(Random(seed + 3).floats(s.n, 0.005f, 0.01f)),
          bias(Random(seed + 4).floats(s.n)),
          row_scales(Random(seed + 5).floats(s.rows, 0.2f, 0.5f)),
          stride(s.n + extra_stride),
          residual(Random(seed + 6).floats(std::size_t{s.rows - 1} * stride + s.n)) {}

    struct Options {
        Activation activation = Activation::none;
        Residual residual = Residual::none;
        bool column_scales = true;
        bool bias = true;
        bool row_scales = true;
        std::optional<std::uint32_t> first_panel = {};
        std::optional<std::uint32_t> last_panel = {};
        std::uint32_t more_k = 0;  // that weights are packed for behind the k; they are not to matter
    };

    // Row-major weights, each output followed by `more`.
    template <class Value>
    std::vector<Value> with_more_k(const std::vector<Value>& weights, const Options& options, Value more) const {
        std::vector<Value> longer;
        for (std::size_t n = 0; n < size.n; ++n) {
            const auto row = weights.begin() + static_cast<std::ptrdiff_t>(n * size.k);
            longer.insert(longer.end(), row, row + static_cast<std::ptrdiff_t>(size.k));
            longer.insert(longer.end(), options.more_k, more);
        }
        return longer;
    }

    EdgeArray<float> initial_out(const Options& options) const {
        EdgeArray<float> out(residual.size(), kUntouched);
        if (options.residual == Residual::same_as_out) {
            std::memcpy(out.data(), residual.data(), residual.size() * sizeof(float));
        }
        return out;
    }
    const float* residual_of(const Options& options, const EdgeArray<float>& out) const {
        return options.residual == Residual::none       ? nullptr
               : options.residual == Residual::separate ? residual.data()
                                                        : out.data();
    }
    std::uint32_t panels() const { return (size.n + 15) / 16; }

    EdgeArray<float> s8(const KernelSet& set, const Options& options) const {
        return integers(set, set.matmul_s8, options);
    }
    // Of weights in [-63, 63], as a linear multiplies them.
    EdgeArray<float> s7(const KernelSet& set, const Options& options) const {
        return integers(set, set.matmul_s7 != nullptr ? set.matmul_s7 : set.matmul_s8, options);
    }
    EdgeArray<float> integers(const KernelSet& set, decltype(KernelSet::matmul_s8) multiply,
                              const Options& options) const {
        EncodedRows a(set, x, size.rows, size.k);
        const EdgeArray<std::int8_t> weights =
            pack(set.packing, with_more_k(q_weights, options, std::int8_t{99}), size.n, size.k + options.more_k);
        EdgeArray<float> out = initial_out(options);
        const MatmulS8 m{a.view(),
                         weights.data(),
                         options.column_scales ? column_scales.data() : nullptr,
                         options.bias ? bias.data() : nullptr,
                         residual_of(options, out),
                         out.data(),
                         stride,
                         size.rows,
                         size.k,
                         size.n,
                         options.activation,
                         size.k + options.more_k};
        multiply(m, options.first_panel.value_or(0), options.last_panel.value_or(panels()));
        return out;
    }

    EdgeArray<float> f32(const KernelSet& set, const Options& options) const {
        const EdgeArray<float> a(x);
        const EdgeArray<float> weights =
            pack(set.packing, with_more_k(f32_weights, options, NAN), size.n, size.k + options.more_k);
        EdgeArray<float> out = initial_out(options);
        const MatmulF32 m{a.data(),
                          size.k,
                          weights.data(),
                          options.row_scales ? row_scales.data() : nullptr,
                          options.bias ? bias.data() : nullptr,
                          residual_of(options, out),
                          out.data(),
                          stride,
                          size.rows,
                          size.k,
                          size.n,
                          options.activation,
                          size.k + options.more_k};
        set.matmul_f32(m, options.first_panel.value_or(0), options.last_panel.value_or(panels()));
        return out;
    }
};

inline std::string describe(const Size& size) {
    return "rows " + std::to_string(size.rows) + ", k " + std::to_string(size.k) + ", n " + std::to_string(size.n);
}

}  // namespace etch::testing
