// SPDX-License-Identifier: Apache-2.0
// Products of rows that a set may take in different ways by what they hold: as in models, where few values are near the
// largest, and where sums of two or four products are the largest that 16 bits hold, or one more. Bit for bit against
// the scalar set.
#include <array>

#include "matmul_case.hpp"

namespace etch::testing {
namespace {

class MatmulSums : public EachSet {
  protected:
    // Of weights of 8 bits, and of 7.
    void expect_as_scalar(Case& c) const {
        SCOPED_TRACE(describe(c.size));
        const KernelSet& reference = scalar(Packing::panel);
        ASSERT_TRUE(same_bits(c.s8(set(), {}), c.s8(reference, {})));
        const std::vector<std::int8_t> eight = c.q_weights;
        for (std::int8_t& weight : c.q_weights)
            weight = static_cast<std::int8_t>(weight / 2);
        EXPECT_TRUE(same_bits(c.s7(set(), {}), c.s8(reference, {})));
        c.q_weights = eight;
    }
};
INSTANTIATE_TEST_SUITE_P(Kernels, MatmulSums, ::testing::ValuesIn(usable_sets()), set_name);

// Each row with one value in so many that is much larger than the others.
void add_large_values(Case& c) {
    Random random(kSeed + 7);
    for (std::uint32_t row = 0; row < c.size.rows; ++row) {
        const std::uint32_t every = 8u << random.bits() % 5u;
        for (std::uint32_t k = 0; k < c.size.k; ++k) {
            if (random.bits() % every == 0) c.x[std::size_t{row} * c.size.k + k] *= 6.0f;
        }
    }
}

TEST_P(MatmulSums, OfRowsWithFewLargeValues) {
    for (const std::uint32_t k : {63u,  64u,  65u,  68u,  72u,  79u,  80u,  81u,   96u,   100u, 384u,
                                  504u, 505u, 511u, 512u, 513u, 516u, 520u, 1023u, 1028u, 1540u}) {
        for (const std::uint32_t rows : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 17u}) {
            Case c({rows, k, 21});
            add_large_values(c);
            expect_as_scalar(c);
        }
    }
    for (const std::uint32_t rows : {62u, 63u, 64u, 65u, 66u, 126u, 127u, 130u}) {
        Case c({rows, 140, 33});
        add_large_values(c);
        expect_as_scalar(c);
    }
}

// The values of 8 neighbouring inputs. By weights of up to 255 sums of 128 fit 16 bits (32,640), by those of up to 127
// sums of 258 (32,766); one more does not.
constexpr std::array<std::int8_t, 8> kLargest[] = {
    {64, 64, 0, 0, 0, 0, 0, 0},         {65, 64, 0, 0, 0, 0, 0, 0},
    {0, 0, 1, 127, 0, 0, 0, 0},         {0, 0, 2, 127, 0, 0, 0, 0},
    {0, 0, 0, 0, 64, 64, 0, 0},         {0, 0, 0, 0, 64, 65, 0, 0},
    {0, 0, 0, 0, 0, 0, 127, 1},         {0, 0, 0, 0, 0, 0, 127, 2},
    {32, 32, 0, 0, 32, 32, 0, 0},       {32, 33, 0, 0, 32, 32, 0, 0},
    {0, 0, 32, 32, 0, 0, 32, 32},       {0, 0, 32, 32, 0, 0, 32, 33},
    {64, 65, 0, 0, 64, 65, 0, 0},       {65, 65, 0, 0, 64, 65, 0, 0},
    {0, 0, 127, 2, 0, 0, 127, 2},       {0, 0, 127, 2, 0, 0, 127, 3},
    {127, -127, 0, 0, 1, -1, 0, 0},     {127, -127, 0, 0, 2, -1, 0, 0},
    {127, -127, 0, 0, 127, -127, 0, 0}, {127, 127, 127, 127, 127, 127, 127, 127}};

// The s8 rows themselves, and of one sign or the other: with a 127 each, quantizing keeps the numbers.
TEST_P(MatmulSums, OfTwoAndOfFourProductsAtTheirLargest) {
    for (const std::uint32_t k : {72u, 76u, 512u, 516u, 1036u}) {
        for (const std::uint32_t rows : {1u, 2u, 3u, 7u}) {
            Case c({rows, k, 18});
            for (std::size_t i = 0; i < c.q_weights.size(); ++i) {
                const std::size_t column = i / k;
                const int sign = column % 3 == 0 ? 1 : column % 3 == 1 ? -1 : i % 2 == 0 ? 1 : -1;
                c.q_weights[i] = static_cast<std::int8_t>(sign * 127);
            }
            for (const std::uint32_t at : {0u, 504u, 512u, k / 8 * 8 - 8, k - 8}) {
                if (at + 8 > k) continue;
                for (std::size_t i = 0; i < std::size(kLargest); ++i) {
                    for (const int sign : {1, -1}) {
                        std::fill(c.x.begin(), c.x.end(), 1.0f);
                        for (std::uint32_t row = 0; row < rows; ++row) {
                            float* const x = c.x.data() + std::size_t{row} * k;
                            x[24] = 127.0f;
                            const auto& values = kLargest[(i + row) % std::size(kLargest)];
                            for (std::uint32_t j = 0; j < 8; ++j)
                                x[at + j] = static_cast<float>(sign * values[j]);
                        }
                        expect_as_scalar(c);
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace etch::testing
