// SPDX-License-Identifier: Apache-2.0
// Pooling and the f32 linear of a head, bit for bit against the CPU's ops; unpacked weight tables.
#include "device_array.hpp"
#include "etch/ops/linear.hpp"
#include "etch/ops/pool.hpp"

namespace etch::testing {
namespace {

using HeadKernels = KernelTest;
using UnpackKernels = KernelTest;

TEST_F(HeadKernels, PoolEachText) {
    for (const Pooling kind :
         {Pooling::first, Pooling::mean, Pooling::max, Pooling::mean_sqrt, Pooling::last, Pooling::weighted_mean}) {
        for (const std::uint32_t width : {1u, 63u, 64u, 200u}) {
            const Batch batch({3, 1, 40});
            std::vector<float> x = Random().floats(std::size_t{batch.rows} * width);
            for (std::size_t i = 0; i < x.size(); i += 5)
                x[i] = i % 2 == 0 ? -1e-13f : 1e-30f;
            std::vector<float> want(std::size_t{batch.text_count} * width);
            for (std::uint32_t text = 0; text < batch.text_count; ++text) {
                const TextRows& of = batch.on_host[text];
                const Pool pool{kind, of.count, F32Rows{x.data(), width}.from(of.first),
                                F32Rows{want.data(), width}.from(text)};
                pool.run(OpContext{scalar(Packing::panel), nullptr}, 0, pool.units());
            }
            const DeviceArray<float> in(x);
            const DeviceArray<float> out(std::size_t{batch.text_count + kRowsBehind} * width);
            run(cuda::PoolTexts{kind,
                                {in.data(), width},
                                batch.texts.data(),
                                out.data(),
                                width,
                                batch.texts_counted(),
                                batch.text_count + kRowsBehind});
            EXPECT_TRUE(same_bits(written(out, want.size()), want)) << "pooling " << static_cast<int>(kind);
        }
    }
}

TEST_F(HeadKernels, LinearInTheOrderOfK) {
    for (const Packing packing : {Packing::panel, Packing::rows}) {
        for (const std::uint32_t inputs : {1u, 7u, 192u, 1000u}) {
            for (const std::uint32_t outputs : {1u, 4u, 65u, 150u}) {
                for (const bool with_bias : {false, true}) {
                    const Batch batch({1, 1, 1});
                    std::vector<float> x = Random(1).floats(std::size_t{batch.rows} * inputs);
                    const std::vector<float> bias = Random(3).floats(outputs);
                    EdgeArray<float> packed =
                        pack(packing, Random(2).floats(std::size_t{outputs} * inputs), outputs, inputs);
                    const F32Weights weights{packed.data(), with_bias ? bias.data() : nullptr, outputs, inputs};
                    std::vector<float> want(std::size_t{batch.rows} * outputs);
                    const LinearF32 linear{weights, batch.rows, {x.data(), inputs}, {want.data(), outputs}};
                    linear.run(OpContext{scalar(packing), nullptr}, 0, linear.units());

                    const DeviceArray<float> in(x), on_device_bias(bias);
                    const DeviceArray<float> table(std::vector<float>(packed.data(), packed.data() + packed.size()));
                    const DeviceArray<float> out(std::size_t{batch.rows + kRowsBehind} * outputs);
                    run(cuda::LinearRowsF32{in.data(), table.data(), packing,
                                            with_bias ? on_device_bias.data() : nullptr, out.data(), inputs, outputs,
                                            batch.row_count(), batch.rows + kRowsBehind});
                    EXPECT_TRUE(same_bits(written(out, want.size()), want)) << inputs << " x " << outputs;
                }
            }
        }
    }
}

// Zeros with the values at their places, the heads of 5 of one side spread to 16.
template <class T, class At>
std::vector<T> spread(std::uint32_t outputs, std::uint32_t inputs, bool of_outputs, std::uint32_t stride, At at) {
    const auto place = [](std::uint32_t i) { return i / 5 * 16 + i % 5; };
    std::vector<T> rows(std::size_t{of_outputs ? place(outputs - 1) + 1 : outputs} * stride, T{});
    for (std::uint32_t n = 0; n < outputs; ++n) {
        for (std::uint32_t k = 0; k < inputs; ++k) {
            const std::size_t row = of_outputs ? place(n) : n;
            rows[row * stride + (of_outputs ? k : place(k))] = at(n, k);
        }
    }
    return rows;
}

std::vector<std::uint16_t> bits(const std::vector<cuda::Bf16>& values) {
    std::vector<std::uint16_t> all;
    for (const cuda::Bf16 value : values)
        all.push_back(value.bits);
    return all;
}

TEST_F(UnpackKernels, TablesBecomeRows) {
    const std::uint32_t outputs = 35, inputs = 40, stride = 144;
    const std::vector<std::int8_t> q = Random(1).s8s(std::size_t{outputs} * inputs);
    const std::vector<float> f = Random(2).floats(q.size());
    const std::vector<float> scales = Random(3).floats(outputs, 1e-3f, 2e-3f);
    const DeviceArray<float> on_device_scales(scales);
    for (const Packing packing : {Packing::panel, Packing::rows}) {
        const EdgeArray<std::int8_t> packed_q = pack(packing, q, outputs, inputs);
        const EdgeArray<float> packed_f = pack(packing, f, outputs, inputs);
        const DeviceArray<std::int8_t> s8(std::vector<std::int8_t>(packed_q.data(), packed_q.data() + packed_q.size()));
        const DeviceArray<float> f32(std::vector<float>(packed_f.data(), packed_f.data() + packed_f.size()));
        for (const bool of_outputs : {true, false}) {
            const cuda::Groups heads{5, 16}, none;
            const cuda::Groups output_groups = of_outputs ? heads : none, input_groups = of_outputs ? none : heads;
            const auto q_at = [&](std::uint32_t n, std::uint32_t k) { return q[n * inputs + k]; };
            const auto want_q = spread<std::int8_t>(outputs, inputs, of_outputs, stride, q_at);
            const DeviceArray<std::int8_t> rows_q(want_q.size(), 0);
            run(cuda::UnpackS8{
                {s8.data(), packing}, outputs, inputs, output_groups, input_groups, rows_q.data(), stride});
            EXPECT_TRUE(same_bits(rows_q.read(), want_q));

            const auto scaled_at = [&](std::uint32_t n, std::uint32_t k) {
                return cuda::to_bf16(static_cast<float>(q_at(n, k)) * scales[n]);
            };
            const auto want_scaled = spread<cuda::Bf16>(outputs, inputs, of_outputs, stride, scaled_at);
            const DeviceArray<cuda::Bf16> rows_scaled(want_scaled.size(), 0);
            run(cuda::UnpackScaledS8{{s8.data(), packing, on_device_scales.data()},
                                     outputs,
                                     inputs,
                                     output_groups,
                                     input_groups,
                                     rows_scaled.data(),
                                     stride});
            EXPECT_TRUE(same_bits(bits(rows_scaled.read()), bits(want_scaled)));

            const auto f_at = [&](std::uint32_t n, std::uint32_t k) { return cuda::to_bf16(f[n * inputs + k]); };
            const auto want_f = spread<cuda::Bf16>(outputs, inputs, of_outputs, stride, f_at);
            const DeviceArray<cuda::Bf16> rows_f(want_f.size(), 0);
            run(cuda::UnpackF32{
                {f32.data(), packing}, outputs, inputs, output_groups, input_groups, rows_f.data(), stride});
            EXPECT_TRUE(same_bits(bits(rows_f.read()), bits(want_f)));
        }
    }
}

TEST_F(UnpackKernels, TablesOfFourBitsBecomeRowsOfEight) {
    const std::uint32_t outputs = 35, inputs = 70, stride = 80;
    const std::vector<float> scales = Random(6).floats(outputs, 1e-3f, 2e-3f);
    const DeviceArray<float> on_device_scales(scales);
    for (const Packing packing : {Packing::panel, Packing::rows}) {
        const std::vector<std::int8_t> q = Random(4).s8s(packed_s4_bytes(packing, outputs, inputs));
        std::vector<std::uint8_t> factors(packed_s4_factors(packing, outputs, inputs));
        for (std::size_t i = 0; i < factors.size(); ++i)
            factors[i] = static_cast<std::uint8_t>(1 + i % 15);  // -8 * 15 is still within 8 bits
        EdgeArray<std::int8_t> expanded(packed_s8_bytes(packing, outputs, inputs));
        scalar(packing).expand_s4(q.data(), factors.data(), outputs, inputs, expanded.data());

        std::vector<std::int8_t> want(std::size_t{outputs} * stride);
        std::vector<cuda::Bf16> want_scaled(want.size());
        for (std::uint32_t n = 0; n < outputs; ++n) {
            for (std::uint32_t k = 0; k < inputs; ++k) {
                const std::int8_t weight = expanded.data()[packed_s8_index(packing, n, k, inputs)];
                want[n * stride + k] = weight;
                want_scaled[n * stride + k] = cuda::to_bf16(static_cast<float>(weight) * scales[n]);
            }
        }
        const DeviceArray<std::int8_t> on_device_q(q);
        const DeviceArray<std::uint8_t> on_device_factors(factors);
        const cuda::PackedS4 table{on_device_q.data(), packing, on_device_factors.data()};
        const DeviceArray<std::int8_t> rows(want.size(), 0);
        run(cuda::UnpackS4{table, outputs, inputs, {}, {}, rows.data(), stride});
        EXPECT_TRUE(same_bits(rows.read(), want));
        const DeviceArray<cuda::Bf16> rows_scaled(want.size(), 0);
        run(cuda::UnpackScaledS4{
            {table, on_device_scales.data()}, outputs, inputs, {}, {}, rows_scaled.data(), stride});
        EXPECT_TRUE(same_bits(bits(rows_scaled.read()), bits(want_scaled)));
    }
}

TEST(Bf16, RoundsToNearestEven) {
    const auto rounded = [](float x) { return cuda::to_float(cuda::to_bf16(x)); };
    EXPECT_EQ(rounded(1.0f), 1.0f);
    EXPECT_EQ(rounded(-3.140625f), -3.140625f);
    EXPECT_EQ(rounded(1.0f + 0x1p-8f), 1.0f);  // half-way: to the even one
    EXPECT_EQ(rounded(1.0f + 0x3p-8f), 1.0f + 0x1p-6f);
    EXPECT_EQ(rounded(1.0f + 0x1.01p-8f), 1.0f + 0x1p-7f);
    EXPECT_EQ(rounded(0x1.FFp10f), 0x1p11f);
    EXPECT_EQ(rounded(0.0f), 0.0f);
}

}  // namespace
}  // namespace etch::testing
