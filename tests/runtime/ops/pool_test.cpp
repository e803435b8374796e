// SPDX-License-Identifier: Apache-2.0
// Pool and Normalize: the sequences of float operations that their header states, step by step, and double precision
// for the meaning.
#include "etch/ops/pool.hpp"

#include <algorithm>
#include <cmath>

#include "row_sums.hpp"
#include "support.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kWidths[] = {1, 15, 16, 17, 33, 384};
constexpr Pooling kPoolings[] = {Pooling::first,     Pooling::mean, Pooling::max,
                                 Pooling::mean_sqrt, Pooling::last, Pooling::weighted_mean};

// None of these ops calls a kernel.
const OpContext kContext{scalar(Packing::panel), nullptr};
const InlineRunner run(kContext);

float pooled(Pooling kind, const std::vector<float>& column) {
    volatile float sum = 0.0f;
    float largest = counted(column[0]);
    for (std::size_t row = 0; row < column.size(); ++row) {
        const float x = counted(column[row]);
        const volatile float weighted = x * static_cast<float>(row + 1);
        sum = sum + (kind == Pooling::weighted_mean ? weighted : x);
        largest = x > largest ? x : largest;
    }
    const float rows = static_cast<float>(column.size());
    if (kind == Pooling::weighted_mean) {
        const volatile float twice = rows * (rows + 1.0f);
        const volatile float weights = twice * 0.5f;
        const volatile float part = 1.0f / weights;
        return sum * part;
    }
    const volatile float root = std::sqrt(rows);
    const volatile float factor = kind == Pooling::mean ? 1.0f / rows : 1.0f / root;
    if (kind == Pooling::first) return counted(column[0]);
    if (kind == Pooling::last) return counted(column.back());
    return kind == Pooling::max ? largest : sum * factor;
}

std::vector<float> normalized(const std::vector<float>& x) {
    std::vector<float> squares;
    for (const float value : x)
        squares.push_back(counted(value) * counted(value));
    const volatile float length = std::sqrt(row_sum(squares));
    const volatile float factor = 1.0f / (length > 1e-12f ? length : 1e-12f);
    std::vector<float> y;
    for (const float value : x)
        y.push_back(counted(value) * factor);
    return y;
}

std::vector<float> column_of(const EdgeArray<float>& x, std::uint32_t rows, std::uint32_t width, std::uint32_t column) {
    std::vector<float> values;
    for (std::uint32_t row = 0; row < rows; ++row)
        values.push_back(x[row * width + column]);
    return values;
}

// Values around 0 with some that count as 0, the limit itself, and both zeros.
EdgeArray<float> rows_of_every_kind(std::uint32_t rows, std::uint32_t width) {
    EdgeArray<float> x(std::size_t{rows} * width);
    const std::vector<float> values = Random(rows * 1000 + width).floats(std::size_t{rows} * width, 3.0f);
    const float special[] = {kTiny, -kTiny, 0x1.fffffep-41f, -0x1p-41f, 1e-41f, 0.0f, -0.0f};
    for (std::size_t i = 0; i < values.size(); ++i)
        x[i] = i % 5 == 3 ? special[i / 5 % 7] : values[i];
    return x;
}

TEST(Pool, EveryKindRowsAndWidths) {
    for (const Pooling kind : kPoolings) {
        for (const std::uint32_t width : kWidths) {
            for (const std::uint32_t rows : {1u, 2u, 7u, 512u}) {
                EdgeArray<float> x = rows_of_every_kind(rows, width);
                EdgeArray<float> out(width, -7.0f);
                const Pool op{kind, rows, {x.data(), width}, {out.data(), width}};
                ASSERT_EQ(op.units(), (width + 15) / 16);
                run_backwards(op, kContext);
                for (std::uint32_t i = 0; i < width; ++i) {
                    const float want = pooled(kind, column_of(x, rows, width, i));
                    ASSERT_TRUE(same_bits(out[i], want)) << rows << " rows, column " << i << " of " << width;
                }
                EdgeArray<float> at_once(width, -7.0f);
                run(Pool{kind, rows, {x.data(), width}, {at_once.data(), width}});
                ASSERT_EQ(std::memcmp(at_once.data(), out.data(), width * sizeof(float)), 0);
            }
        }
    }
}

TEST(Pool, ANarrowerRowHasTheFirstColumns) {
    for (const Pooling kind : kPoolings) {
        EdgeArray<float> x = rows_of_every_kind(5, 40);
        EdgeArray<float> whole(40, -7.0f);
        run(Pool{kind, 5, {x.data(), 40}, {whole.data(), 40}});
        for (const std::uint32_t width : {1u, 16u, 17u, 39u}) {
            EdgeArray<float> out(width, -7.0f);
            const Pool op{kind, 5, {x.data(), 40}, {out.data(), width}};
            ASSERT_EQ(op.units(), (width + 15) / 16);
            run(op);
            ASSERT_EQ(std::memcmp(out.data(), whole.data(), width * sizeof(float)), 0);
        }
    }
}

TEST(Pool, EndsAreHalfOfTheLastRowAndHalfOfTheFirst) {
    for (const std::uint32_t width : {2u, 26u, 64u}) {
        for (const std::uint32_t rows : {1u, 5u}) {
            EdgeArray<float> x = rows_of_every_kind(rows, width);
            EdgeArray<float> out(width, -7.0f);
            run(Pool{Pooling::ends, rows, {x.data(), width}, {out.data(), width}});
            for (std::uint32_t i = 0; i < width; ++i) {
                const float want = counted(x[(i < width / 2 ? rows - 1 : 0) * width + i]);
                ASSERT_TRUE(same_bits(out[i], want)) << rows << " rows, column " << i << " of " << width;
            }
        }
    }
}

TEST(Pool, MeansWhatItSays) {
    constexpr std::uint32_t kRows = 7;
    constexpr std::uint32_t kWidth = 19;
    std::vector<float> x = Random().floats(kRows * kWidth);
    for (const Pooling kind : kPoolings) {
        std::vector<float> out(kWidth);
        run(Pool{kind, kRows, {x.data(), kWidth}, {out.data(), kWidth}});
        for (std::uint32_t i = 0; i < kWidth; ++i) {
            double sum = 0;
            double weighted = 0;
            double largest = -10;
            for (std::uint32_t row = 0; row < kRows; ++row) {
                weighted += (row + 1) * static_cast<double>(x[row * kWidth + i]);
                sum += static_cast<double>(x[row * kWidth + i]);
                largest = std::fmax(largest, static_cast<double>(x[row * kWidth + i]));
            }
            const double want = kind == Pooling::first           ? static_cast<double>(x[i])
                                : kind == Pooling::mean          ? sum / kRows
                                : kind == Pooling::max           ? largest
                                : kind == Pooling::last          ? static_cast<double>(x[(kRows - 1) * kWidth + i])
                                : kind == Pooling::weighted_mean ? weighted / (kRows * (kRows + 1) / 2)
                                                                 : sum / std::sqrt(static_cast<double>(kRows));
            EXPECT_NEAR(out[i], want, 1e-6);
        }
    }
}

TEST(Normalize, RowsOfEveryKindAndLength) {
    constexpr std::uint32_t kRows = 3;
    for (const std::uint32_t width : kWidths) {
        EdgeArray<float> x = rows_of_every_kind(kRows, width);
        std::vector<std::vector<float>> want;
        for (std::uint32_t row = 0; row < kRows; ++row)
            want.push_back(normalized({x.data() + row * width, x.data() + (row + 1) * width}));
        const Normalize op{kRows, {x.data(), width}};
        ASSERT_EQ(op.units(), kRows);
        for (std::uint32_t row = kRows; row-- > 0;) {
            op.run(kContext, row, row + 1);
            for (std::uint32_t i = 0; i < width; ++i)
                ASSERT_TRUE(same_bits(x[row * width + i], want[row][i])) << row << " " << i << " of " << width;
        }
    }
}

TEST(Normalize, LengthIsOneOrZero) {
    std::vector<float> x = Random().floats(384, 2.0f);
    std::vector<float> zeros(384, -0x1p-41f);
    const std::vector<float> before = x;
    run(Normalize{1, {x.data(), 384}});
    run(Normalize{1, {zeros.data(), 384}});
    double length = 0;
    double square = 0;
    for (std::uint32_t i = 0; i < 384; ++i) {
        length += static_cast<double>(x[i]) * static_cast<double>(x[i]);
        square += static_cast<double>(before[i]) * static_cast<double>(before[i]);
        ASSERT_TRUE(same_bits(zeros[i], 0.0f));
    }
    EXPECT_NEAR(length, 1.0, 1e-6);
    EXPECT_NEAR(x[5], static_cast<double>(before[5]) / std::sqrt(square), 1e-7);
}

TEST(Normalize, AVectorOfTheLeastLengthIsDividedBy1e12th) {
    float x[] = {0x1p-40f};
    run(Normalize{1, {x, 1}});
    EXPECT_TRUE(same_bits(x[0], 0x1p-40f * (1.0f / 1e-12f)));
    EXPECT_LT(x[0], 0.91f);
}

}  // namespace
}  // namespace etch::testing
