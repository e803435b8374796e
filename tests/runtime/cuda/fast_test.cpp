// SPDX-License-Identifier: Apache-2.0
// The kernels of the fast mode against double precision.
#include <cmath>

#include "bf16_values.hpp"
#include "device_array.hpp"

namespace etch::testing {
namespace {

using FastKernels = KernelTest;

void apply(const NormOnDevice& norm, std::vector<double>& x) {
    for (std::size_t at = 0; at < x.size(); at += norm.width) {
        double mean = 0, squares = 0;
        for (std::size_t i = 0; i < norm.width; ++i)
            mean += x[at + i] / norm.width;
        for (std::size_t i = 0; i < norm.width; ++i)
            squares += (x[at + i] - mean) * (x[at + i] - mean) / norm.width;
        const double deviation = std::sqrt(squares + NormOnDevice::kEpsilon);
        for (std::size_t i = 0; i < norm.width; ++i)
            x[at + i] = (x[at + i] - mean) / deviation * norm.host_gamma[i] + norm.host_beta[i];
    }
}

TEST_F(FastKernels, EmbedNorm) {
    constexpr std::uint32_t kEntries = 30;
    for (const std::uint32_t width : {16u, 90u, 384u}) {
        const Batch batch({12, 5}, kEntries, kEntries);
        std::vector<std::vector<std::int8_t>> q;
        std::vector<std::vector<float>> scales, floats;
        for (std::uint32_t table = 0; table < 3; ++table) {
            q.push_back(Random(table).s8s(std::size_t{kEntries} * width));
            scales.push_back(Random(table + 10).floats(kEntries, 1e-3f, 2e-3f));
            floats.emplace_back();
            for (std::size_t i = 0; i < q[table].size(); ++i)
                floats[table].push_back(static_cast<float>(q[table][i]) * scales[table][i / width]);
        }
        std::vector<double> want;
        for (const cuda::RowInfo& token : batch.host_tokens) {
            const std::size_t entry[] = {static_cast<std::size_t>(token.id), token.segment, token.position};
            for (std::uint32_t i = 0; i < width; ++i) {
                want.push_back(double{floats[0][entry[0] * width + i]} + floats[1][entry[1] * width + i] +
                               floats[2][entry[2] * width + i]);
            }
        }
        const NormOnDevice norm(width);
        apply(norm, want);

        const auto stride = static_cast<std::uint32_t>(round_up(width, cuda::kTile));
        const std::size_t size = std::size_t{batch.rows + kRowsBehind} * stride;
        const DeviceArray<cuda::Bf16> out(size);
        const auto expect = [&] {
            const std::vector<cuda::Bf16> got = written(out, std::size_t{batch.rows} * stride);
            for (std::uint32_t row = 0; row < batch.rows; ++row) {
                for (std::uint32_t i = 0; i < stride; ++i) {
                    const double value = i < width ? want[std::size_t{row} * width + i] : 0.0;
                    ASSERT_NEAR(value_of(got[std::size_t{row} * stride + i]), value,
                                kRounding * std::abs(value) + 1e-5);
                }
            }
        };
        const DeviceArray<std::int8_t> word(q[0]), segment(q[1]), position(q[2]);
        const DeviceArray<float> word_scales(scales[0]), segment_scales(scales[1]), position_scales(scales[2]);
        run(cuda::EmbedNormFast{batch.tokens.data(),
                                {word.data(), word_scales.data()},
                                {segment.data(), segment_scales.data()},
                                {position.data(), position_scales.data()},
                                norm.weights(),
                                {nullptr, 0},
                                {out.data(), stride},
                                width,
                                batch.row_count(),
                                batch.rows + kRowsBehind});
        expect();
        const DeviceArray<float> word_floats(floats[0]), segment_floats(floats[1]), position_floats(floats[2]);
        must_succeed(cudaMemset(out.data(), kUnwritten, size * sizeof(cuda::Bf16)), "cudaMemset");
        run(cuda::EmbedNormFastF32{batch.tokens.data(),
                                   {word_floats.data()},
                                   {segment_floats.data()},
                                   {position_floats.data()},
                                   norm.weights(),
                                   {nullptr, 0},
                                   {out.data(), stride},
                                   width,
                                   batch.row_count(),
                                   batch.rows + kRowsBehind});
        expect();
    }
}

class FastSumNorms : public KernelTest {
  protected:
    template <class Kernel>
    static void expect(std::uint32_t width) {
        const Batch batch({4, 13});
        const std::uint32_t stride = width + 16;
        const std::vector<cuda::Bf16> x = rounded(Random(1).floats(std::size_t{batch.rows} * stride, 2.0f));
        const std::vector<cuda::Bf16> before = rounded(Random(2).floats(std::size_t{batch.rows} * width, 2.0f));
        const NormOnDevice norm(width);
        for (const bool first_rows : {false, true}) {
            const std::uint32_t rows = first_rows ? batch.text_count : batch.rows;
            std::vector<double> want;
            for (std::uint32_t row = 0; row < rows; ++row) {
                const std::uint32_t from = first_rows ? batch.on_host[row].first : row;
                for (std::uint32_t i = 0; i < width; ++i)
                    want.push_back(value_of(x[row * stride + i]) + value_of(before[from * width + i]));
            }
            apply(norm, want);
            const DeviceArray<cuda::Bf16> in(x), residual(before), out(want.size() + kRowsBehind * width);
            Kernel kernel{};
            kernel.in = {in.data(), stride};
            kernel.residual = {residual.data(), width};
            kernel.first_rows = first_rows ? batch.texts.data() : nullptr;
            kernel.norm = norm.weights();
            kernel.out = {out.data(), width};
            kernel.width = width;
            kernel.count = first_rows ? batch.texts_counted() : batch.row_count();
            kernel.rows = rows + kRowsBehind;
            run(kernel);
            EXPECT_TRUE(near(written(out, want.size()), want, kRounding, 1e-5)) << "width " << width;
        }
    }
};

TEST_F(FastSumNorms, OfAnyWidth) {
    for (const std::uint32_t width : {1u, 90u, 768u})
        expect<cuda::SumNormFast>(width);
}

TEST_F(FastSumNorms, InRegisters) {
    for (const std::uint32_t width : {16u, 48u, 256u})
        expect<cuda::SumNormFast256>(width);
    for (const std::uint32_t width : {272u, 384u, 512u})
        expect<cuda::SumNormFast512>(width);
    expect<cuda::SumNormFast768>(768);
    expect<cuda::SumNormFast1024>(1008);
}

TEST_F(FastKernels, Activate) {
    const std::uint32_t width = 100;
    const Batch batch({6});
    const std::vector<cuda::Bf16> x = rounded(Random().floats(std::size_t{batch.rows} * width, 5.0f));
    std::vector<double> want;
    for (const cuda::Bf16 value : x)
        want.push_back(0.5 * value_of(value) * (1.0 + std::erf(value_of(value) / std::sqrt(2.0))));
    const DeviceArray<cuda::Bf16> in(x), out(x.size());
    const DeviceArray<float> floats(x.size());
    run(cuda::ActivateFast{
        {in.data(), width}, Activation::gelu, {out.data(), width}, width, batch.row_count(), batch.rows});
    EXPECT_TRUE(near(out.read(), want, kRounding, 1e-6));
    run(cuda::ActivateFastToF32{
        {in.data(), width}, Activation::gelu, {floats.data(), width}, width, batch.row_count(), batch.rows});
    EXPECT_TRUE(near(floats.read(), want, 1e-6, 1e-6));
}

}  // namespace
}  // namespace etch::testing
