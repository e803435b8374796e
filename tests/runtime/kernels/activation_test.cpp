// SPDX-License-Identifier: Apache-2.0
// The polynomials against double precision, with the errors that polynomials.hpp states, and every set against scalar.
#include <cmath>

#include "kernels/polynomials.hpp"
#include "support.hpp"

namespace etch::testing {
namespace {

double exact(Activation activation, double x) {
    switch (activation) {
        case Activation::none:
            return x;
        case Activation::relu:
            return x > 0 ? x : 0;
        case Activation::gelu:
            return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
        case Activation::gelu_tanh:
            return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
        case Activation::quick_gelu:
            return x / (1 + std::exp(-1.702 * x));
        case Activation::silu:
            return x / (1 + std::exp(-x));
        case Activation::tanh:
            return std::tanh(x);
        case Activation::sigmoid:
            return 1 / (1 + std::exp(-x));
    }
    return NAN;
}

// The larger of two errors; one that is no number counts as larger than all.
double larger(double worst, double error) {
    return error <= worst ? worst : error;
}

// As stated in polynomials.hpp, on [-12, 12].
double stated_error(Activation activation) {
    switch (activation) {
        case Activation::none:
        case Activation::relu:
            return 0;
        case Activation::gelu:
            return 5.8e-7;
        case Activation::gelu_tanh:
            return 7.3e-7;
        case Activation::quick_gelu:
            return 1.2e-6;
        case Activation::silu:
            return 2.0e-6;
        case Activation::tanh:
        case Activation::sigmoid:
            return 1.9e-7;
    }
    return NAN;
}

class Activations : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, Activations, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(Activations, StatedErrorsOverADenseSweep) {
    constexpr std::uint32_t kPoints = 1'000'001;
    std::vector<float> x(kPoints);
    for (std::uint32_t i = 0; i < kPoints; ++i)
        x[i] = static_cast<float>(24.0 * i / (kPoints - 1) - 12.0);
    for (const Activation activation : kAllActivations) {
        std::vector<float> y = x;
        set().activate_row(activation, y.data(), kPoints);
        double worst = 0;
        for (std::uint32_t i = 0; i < kPoints; ++i)
            worst = larger(worst, std::fabs(y[i] - exact(activation, x[i])));
        EXPECT_LE(worst, stated_error(activation)) << "activation " << static_cast<int>(activation);
    }
}

// exp2 seen through exp2_row: the first element is the maximum 0, the others are the arguments.
TEST_P(Activations, Exp2HasTheStatedRelativeErrorDownToItsLimit) {
    constexpr std::uint32_t kPoints = 1'000'001;
    std::vector<float> x(kPoints);
    for (std::uint32_t i = 0; i < kPoints; ++i)
        x[i] = static_cast<float>(-64.0 * i / (kPoints - 1));
    std::vector<float> y = x;
    set().exp2_row(y.data(), kPoints);
    double worst = 0;
    for (std::uint32_t i = 0; i < kPoints; ++i) {
        const double want = std::exp2(static_cast<double>(x[i]));
        worst = larger(worst, std::fabs(y[i] - want) / want);
    }
    EXPECT_LE(worst, 1.9e-7);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_GT(y[kPoints - 1], 0.0f);  // exp2(-64)

    float below[] = {0.0f, std::nextafterf(-64.0f, -100.0f), -1e30f, -INFINITY};
    set().exp2_row(below, 4);
    EXPECT_EQ(below[0], 1.0f);
    for (int i = 1; i < 4; ++i)
        EXPECT_TRUE(same_bits(below[i], 0.0f));
}

TEST_P(Activations, EveryLengthAsScalarAndNoNeighbourTouched) {
    const KernelSet& reference = scalar(set().packing);
    for (const Activation activation : kAllActivations) {
        for (std::uint32_t n = 1; n <= 40; ++n) {
            const std::vector<float> x = Random(n).floats(n, 9.0f);
            EdgeArray<float> got(x);
            EdgeArray<float> want(x);
            set().activate_row(activation, got.data(), n);
            reference.activate_row(activation, want.data(), n);
            ASSERT_TRUE(same_bits(got, want)) << static_cast<int>(activation) << " n " << n;
            std::vector<float> row = x;
            row.push_back(77.0f);
            set().activate_row(activation, row.data(), n);
            ASSERT_EQ(row[n], 77.0f);
        }
    }
}

// Every exponent and sign, so also subnormals, the edges of exp2 and of erf, and values whose cube overflows.
TEST_P(Activations, EveryMagnitudeAsScalar) {
    std::vector<float> x;
    for (std::uint32_t exponent = 0; exponent < 0xFF; ++exponent) {
        for (const std::uint32_t mantissa : {0u, 1u, 0x2AAAAAu, 0x555555u, 0x7FFFFFu}) {
            for (const std::uint32_t sign : {0u, 0x80000000u}) {
                const std::uint32_t bits = sign | exponent << 23 | mantissa;
                float value;
                std::memcpy(&value, &bits, sizeof value);
                x.push_back(value);
            }
        }
    }
    const std::uint32_t n = static_cast<std::uint32_t>(x.size());
    for (const Activation activation : kAllActivations) {
        std::vector<float> got = x;
        std::vector<float> want = x;
        set().activate_row(activation, got.data(), n);
        scalar(set().packing).activate_row(activation, want.data(), n);
        ASSERT_TRUE(same_bits(got, want)) << static_cast<int>(activation);
    }
}

TEST_P(Activations, ExactPoints) {
    const auto value = [this](Activation activation, float x) {
        set().activate_row(activation, &x, 1);
        return x;
    };
    EXPECT_TRUE(same_bits(value(Activation::relu, -0.0f), 0.0f));
    EXPECT_TRUE(same_bits(value(Activation::tanh, 0.0f), 0.0f));
    EXPECT_TRUE(same_bits(value(Activation::tanh, -0.0f), -0.0f));
    EXPECT_EQ(value(Activation::gelu, 0.0f), 0.0f);
    EXPECT_EQ(value(Activation::gelu, 6.0f), 6.0f);
    EXPECT_EQ(value(Activation::gelu, -6.0f), 0.0f);
    EXPECT_EQ(value(Activation::silu, -100.0f), 0.0f);
    EXPECT_EQ(value(Activation::tanh, 30.0f), value(Activation::tanh, 1e30f));
}

}  // namespace
}  // namespace etch::testing
