// SPDX-License-Identifier: Apache-2.0
// The operations along a row: time per row, and GB/s of what they read and write. Most work in place, so that rows are
// made afresh, untimed, after each pass over a block of them.
#include <chrono>
#include <cstring>
#include <string>

#include "benchmarks.hpp"
#include "kernels.hpp"
#include "operands.hpp"

namespace etch::bench {
namespace {

constexpr std::uint32_t kRows = 64;

// row_op(values, encoded) on each of kRows rows of `width`; `bytes` is what it moves per row.
template <class RowOp>
void measure(benchmark::State& state, std::uint32_t width, std::size_t bytes, const RowOp& row_op) {
    Aligned<float> source = random_floats(std::size_t{kRows} * width);
    Aligned<float> rows(source.size());
    Aligned<std::uint8_t> encoded(encoded_row_bytes(Packing::panel, width));
    for (auto _ : state) {
        std::memcpy(rows.data(), source.data(), source.size() * sizeof(float));
        const auto begin = std::chrono::steady_clock::now();
        for (std::uint32_t r = 0; r < kRows; ++r)
            row_op(rows.data() + std::size_t{r} * width, encoded.data());
        benchmark::ClobberMemory();
        state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    state.counters["ns/row"] =
        benchmark::Counter(kRows * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    state.counters["GB/s"] =
        benchmark::Counter(static_cast<double>(bytes) * kRows * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

template <class Function>
void add(const char* what, const KernelSet& set, std::uint32_t width, const Options& options, Function function) {
    const std::string name = std::string(what) + "/" + std::string(set.name) + "/" + std::to_string(width);
    repeated(benchmark::RegisterBenchmark(name.c_str(), function), options)->UseManualTime();
}

}  // namespace

void register_rows(const KernelSet& set, const Options& options) {
    constexpr std::uint32_t kWidths[] = {384, 768, 1536, 3072};
    constexpr std::uint32_t kQuickWidths[] = {768};
    const auto* const first = options.quick ? std::begin(kQuickWidths) : std::begin(kWidths);
    const auto* const last = options.quick ? std::end(kQuickWidths) : std::end(kWidths);
    for (const auto* width = first; width != last; ++width) {
        const std::uint32_t n = *width;
        const std::size_t floats = n * sizeof(float);
        add("quantize_row", set, n, options, [&set, n, floats](benchmark::State& state) {
            measure(
                state, n, floats + std::size_t{n} * set.encoded_row_bytes_per_value,
                [&](float* x, std::uint8_t* encoded) { benchmark::DoNotOptimize(set.quantize_row(x, n, encoded)); });
        });
        add("layer_norm_row", set, n, options, [&set, n, floats](benchmark::State& state) {
            const Aligned<float> gamma(n, 1.5f);
            const Aligned<float> beta(n, 0.5f);
            measure(state, n, 4 * floats, [&](float* x, std::uint8_t*) {
                set.layer_norm_row(x, x, n, gamma.data(), beta.data(), 1e-12f, 1.0f / static_cast<float>(n));
            });
        });
        add("gelu_row", set, n, options, [&set, n, floats](benchmark::State& state) {
            measure(state, n, 2 * floats, [&](float* x, std::uint8_t*) { set.activate_row(Activation::gelu, x, n); });
        });
    }
    for (const std::uint32_t n : {44u, 221u}) {  // rows of attention: one value a token
        const std::size_t floats = n * sizeof(float);
        add("exp2_row", set, n, options, [&set, n, floats](benchmark::State& state) {
            measure(state, n, 2 * floats,
                    [&](float* x, std::uint8_t*) { benchmark::DoNotOptimize(set.exp2_row(x, n)); });
        });
        add("quantize_probabilities", set, n, options, [&set, n, floats](benchmark::State& state) {
            const Aligned<float> scales(n, 0.02f);
            measure(state, n, 3 * floats + std::size_t{n} * set.encoded_row_bytes_per_value,
                    [&](float* x, std::uint8_t* encoded) {
                        benchmark::DoNotOptimize(set.quantize_probabilities(x, scales.data(), n, encoded));
                    });
        });
    }
}

}  // namespace etch::bench
