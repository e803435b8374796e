// SPDX-License-Identifier: Apache-2.0
// Packed matrix products of MiniLM and BERT-base, and of the steps of decoders, the same operands again and again:
// weights come from the cache that they fit in. The limit is measured before and after each benchmark, so that both see
// the same machine. Of few rows, which have little to do for a weight, also how fast weights are read, beside reading
// alone.
#include <string>

#include "benchmarks.hpp"
#include "etch/kernels.hpp"
#include "etch/ops/linear.hpp"
#include "kernels.hpp"
#include "limits.hpp"
#include "machine.hpp"
#include "mix.hpp"
#include "operands.hpp"

namespace etch::bench {
namespace {

struct Shape {
    std::uint32_t k;
    std::uint32_t n;
};

constexpr Shape kShapes[] = {{384, 384}, {384, 1536}, {1536, 384}, {768, 768}, {768, 3072}, {3072, 768}};
constexpr Shape kStepShapes[] = {{256, 256}, {256, 1024}, {1024, 256}, {256, 8000}, {512, 2048}, {512, 32000}};
constexpr Shape kQuickShapes[] = {{384, 1536}, {3072, 768}};
constexpr std::uint32_t kRows[] = {1, 8, 32, 44, 128, 221};
constexpr std::uint32_t kStepRows[] = {1, 2, 3, 4, 5, 6, 7, 8};
constexpr std::uint32_t kQuickRows[] = {8, 44};
constexpr std::uint32_t kFewRows = 8;

// `weight_bytes`: of the table, which is read once or more for all rows.
template <class Run>
void measure(benchmark::State& state, const KernelSet& set, Operands operands, double macs, std::size_t weight_bytes,
             const Run& run, const Mix& mix = {}) {
    const std::string cache = cache_of(weight_bytes);
    if (!cache.empty()) state.SetLabel("weights in " + cache);
    const double limit = measured_limit(set.name, operands, mix);
    run();
    for (auto _ : state) {
        run();
        benchmark::ClobberMemory();
    }
    count_macs(state, macs, set.name, operands, limit, mix);
}

// The set's product of such weights.
void measure_integers(benchmark::State& state, const KernelSet& set, Operands operands, Shape shape,
                      std::uint32_t rows) {
    Quantized a(set, rows, shape.k);
    auto weights = random_bytes(packed_s8_bytes(set.packing, shape.n, shape.k));
    if (operands == Operands::s7) {
        for (std::int8_t& weight : weights)
            weight = static_cast<std::int8_t>(weight / 3);
    }
    const auto multiply = operands == Operands::s7 ? set.matmul_s7 : set.matmul_s8;
    const std::vector<float> scales(shape.n, 0.01f);
    const std::vector<float> bias(shape.n, 0.5f);
    Aligned<float> out(std::size_t{rows} * shape.n);
    const MatmulS8 m{a.rows(), weights.data(), scales.data(), bias.data(), nullptr,         out.data(),
                     shape.n,  rows,           shape.k,       shape.n,     Activation::none};
    const double bandwidth = rows <= kFewRows ? measured_bandwidth(weights.data(), weights.size()) : 0;
    measure(
        state, set, operands, double{1} * rows * shape.k * shape.n, weights.size(),
        [&] { multiply(m, 0, (shape.n + kPanelWidth - 1) / kPanelWidth); },
        set.name == "avx2" ? mix_of(a.rows(), rows, shape.k, operands) : Mix{});
    if (rows <= kFewRows) count_reads(state, weights.data(), weights.size(), bandwidth);
}

void measure_s8(benchmark::State& state, const KernelSet& set, Shape shape, std::uint32_t rows) {
    measure_integers(state, set, Operands::s8, shape, rows);
}

void measure_s7(benchmark::State& state, const KernelSet& set, Shape shape, std::uint32_t rows) {
    measure_integers(state, set, Operands::s7, shape, rows);
}

void measure_f32(benchmark::State& state, const KernelSet& set, Shape shape, std::uint32_t rows) {
    const auto a = random_floats(std::size_t{rows} * shape.k);
    const auto weights = random_floats(packed_f32_elements(set.packing, shape.n, shape.k));
    const std::vector<float> bias(shape.n, 0.5f);
    Aligned<float> out(std::size_t{rows} * shape.n);
    const MatmulF32 m{a.data(),   shape.k, weights.data(), nullptr, bias.data(), nullptr,
                      out.data(), shape.n, rows,           shape.k, shape.n,     Activation::none};
    measure(state, set, Operands::f32, double{1} * rows * shape.k * shape.n, weights.size() * sizeof(float),
            [&] { set.matmul_f32(m, 0, (shape.n + kPanelWidth - 1) / kPanelWidth); });
}

// As a model's linear computes it: expanded first, or decoded as it is multiplied.
void measure_s4(benchmark::State& state, const KernelSet& set, Shape shape, std::uint32_t rows) {
    Quantized a(set, rows, shape.k);
    const auto q = random_bytes(packed_s4_bytes(set.packing, shape.n, shape.k));
    const Aligned<std::uint8_t> factors(packed_s4_factors(set.packing, shape.n, shape.k), 11);
    const std::vector<float> scales(shape.n, 0.01f);
    const std::vector<float> bias(shape.n, 0.5f);
    Aligned<std::uint8_t> scratch(expanded_bytes(set.packing, shape.k));
    Aligned<float> out(std::size_t{rows} * shape.n);
    const S8Weights weights{q.data(), scales.data(), bias.data(), shape.n, shape.k, factors.data()};
    const LinearS8 linear{weights, rows, a.rows(), {out.data(), shape.n}};
    const double bandwidth = rows <= kFewRows ? measured_bandwidth(q.data(), q.size()) : 0;
    measure(state, set, Operands::s8, double{1} * rows * shape.k * shape.n, q.size(), [&] {
        linear.run({set, scratch.data()}, 0, linear.units());
    });
    if (rows <= kFewRows) count_reads(state, q.data(), q.size(), bandwidth);
}

using Measure = void (*)(benchmark::State&, const KernelSet&, Shape, std::uint32_t rows);

void register_one(const char* what, Measure measured, const KernelSet& set, const Options& options, Shape shape,
                  std::uint32_t rows) {
    const std::string name = std::string(what) + "/" + std::string(set.name) + "/" + std::to_string(shape.k) + "x" +
                             std::to_string(shape.n) + "/M=" + std::to_string(rows);
    repeated(benchmark::RegisterBenchmark(
                 name.c_str(),
                 [measured, &set, shape, rows](benchmark::State& state) { measured(state, set, shape, rows); }),
             options)
        ->UseRealTime();
}

void register_each(const KernelSet& set, const Options& options, Shape shape, std::uint32_t rows) {
    register_one("matmul_s8", measure_s8, set, options, shape, rows);
    if (set.matmul_s7 != nullptr) register_one("matmul_s7", measure_s7, set, options, shape, rows);
    register_one("linear_s4", measure_s4, set, options, shape, rows);
    register_one("matmul_f32", measure_f32, set, options, shape, rows);
}

}  // namespace

void register_matmul(const KernelSet& set, const Options& options) {
    if (options.quick) {
        for (const Shape shape : kQuickShapes) {
            for (const std::uint32_t rows : kQuickRows)
                register_each(set, options, shape, rows);
        }
        return;
    }
    for (const Shape shape : kShapes) {
        for (const std::uint32_t rows : kRows)
            register_each(set, options, shape, rows);
    }
    for (const Shape shape : kStepShapes) {
        for (const std::uint32_t rows : kStepRows)
            register_one("matmul_s8", measure_s8, set, options, shape, rows);
        for (const std::uint32_t rows : kStepRows)
            register_one("linear_s4", measure_s4, set, options, shape, rows);
    }
}

}  // namespace etch::bench
