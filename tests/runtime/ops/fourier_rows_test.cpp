// SPDX-License-Identifier: Apache-2.0
// Transforms over the rows of texts against their header's formulas in doubles, over blocks and single rows in any
// order.
#include "etch/ops/fourier_rows.hpp"

#include <cmath>

#include "support.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

constexpr double kTurn = 6.283185307179586;
// Behind each other here, each at a place of its own where rows are kept.
constexpr TextRows kTexts[] = {whole_text(1), whole_text(8, 1, 16), whole_text(13, 9, 32)};
constexpr Texts kAll{kTexts, 3};
constexpr std::uint32_t kRows = 22;
constexpr std::uint32_t kKept = 45;

// Of rows of `width` values.
struct Transform {
    explicit Transform(std::uint32_t of_width)
        : width(of_width), waves(of_width / 2 + 1), kept(Random(kSeed + of_width).floats(kKept * 2 * waves, 2.0f)) {}

    std::vector<double> expected() const {
        std::vector<double> want(kRows * width);
        for (const TextRows& text : kTexts) {
            for (std::uint32_t n = 0; n < text.count; ++n) {
                double* const row = &want[(text.first + n) * width];
                for (std::uint32_t k = 0; k < waves; ++k) {
                    double even = 0;
                    double odd = 0;
                    for (std::uint32_t m = 0; m < text.count; ++m) {
                        const double angle = kTurn * n * m / text.count;
                        const float* const x = &kept[(text.place + m) * 2 * waves];
                        even += std::cos(angle) * static_cast<double>(x[k]);
                        odd += std::sin(angle) * static_cast<double>(x[waves + k]);
                    }
                    row[k] = even - odd;
                    if (k > 0 && width - k >= waves) row[width - k] = even + odd;
                }
            }
        }
        return want;
    }

    std::vector<float> run(std::uint32_t block, const Texts& texts = kAll) {
        const std::uint32_t rows_of_all = texts.rows();
        std::vector<float> out(rows_of_all * width, NAN);
        EdgeArray<std::uint8_t> scratch(fourier_scratch_bytes(13), 0x5A);
        for (const RowBlock rows : RowBlocks(rows_of_all, block)) {
            const F32Rows to = F32Rows{out.data(), width}.from(rows.first);
            const FourierRows op{rows, texts, {kept.data(), 2 * waves}, to};
            run_backwards(op, {*usable_sets()[0], scratch.data()});
        }
        return out;
    }

    std::uint32_t width;
    std::uint32_t waves;
    std::vector<float> kept;
};

TEST(FourierRows, IsTheSumOfItsFormula) {
    for (const std::uint32_t width : {1u, 2u, 5u, 31u, 38u}) {
        Transform of(width);
        const std::vector<double> want = of.expected();
        const std::vector<float> whole = of.run(kRows);
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_NEAR(static_cast<double>(whole[i]), want[i], 2e-5) << width << ", " << i;
        for (const std::uint32_t block : {1u, 3u})
            EXPECT_TRUE(same_bits(of.run(block), whole)) << block;
    }
}

TEST(FourierRows, FirstRowsAlone) {
    Transform of(10);
    const std::vector<float> all = of.run(kRows);
    const std::vector<float> first = of.run(2, kAll.first_rows());
    for (std::uint32_t text = 0; text < 3; ++text)
        EXPECT_EQ(std::memcmp(&first[text * 10], &all[kTexts[text].first * 10], 10 * sizeof(float)), 0);
}

// One row that is 1 in the first wave makes the cosines of all angles, which are exact at every quarter.
TEST(FourierRows, AnglesAreWithinAUnitOfRounding) {
    for (const std::uint32_t count : {1u, 2u, 3u, 4u, 7u, 8u, 12u, 100u, 511u}) {
        const TextRows text[] = {whole_text(count)};
        const Texts texts{text, 1};
        std::vector<float> x(count * 4, 0.0f);
        const std::uint32_t m = count > 1 ? 1 : 0;
        x[m * 4] = 1.0f;      // wave 0 with cosines
        x[m * 4 + 3] = 1.0f;  // wave 1 with sines
        std::vector<float> out(count * 3, NAN);
        EdgeArray<std::uint8_t> scratch(fourier_scratch_bytes(count), 0x5A);
        const FourierRows op{{0, count}, texts, {x.data(), 4}, {out.data(), 3}};
        op.run({*usable_sets()[0], scratch.data()}, 0, 0);  // nothing
        op.run({*usable_sets()[0], scratch.data()}, 0, count);
        for (std::uint32_t n = 0; n < count; ++n) {
            const double angle = kTurn * n * m / count;
            EXPECT_NEAR(static_cast<double>(out[n * 3]), std::cos(angle), 1.2e-7) << count << ", " << n;
            EXPECT_NEAR(static_cast<double>(out[n * 3 + 2]), std::sin(angle), 1.2e-7) << count << ", " << n;
            EXPECT_EQ(out[n * 3 + 1], -out[n * 3 + 2]);
            const float both = std::abs(out[n * 3]) + std::abs(out[n * 3 + 2]);
            EXPECT_TRUE(4 * n % count != 0 || both == 1.0f) << count << ", " << n;
        }
    }
}

}  // namespace
}  // namespace etch::testing
