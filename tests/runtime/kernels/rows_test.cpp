// SPDX-License-Identifier: Apache-2.0
// Operations along a row: against the contract written with doubles or exact steps, and bit for bit against scalar.
#include <cfloat>
#include <cmath>

#include "support.hpp"

namespace etch::testing {
namespace {

const std::uint32_t kLengths[] = {1,  2,  3,  4,  5,  7,  8,  9,  10,  15,  16, 17,
                                  23, 24, 25, 31, 32, 33, 37, 63, 100, 221, 384};

class Rows : public EachSet {
  protected:
    const KernelSet& reference() const { return scalar(set().packing); }

    // Rows of n floats worth looking at.
    static std::vector<std::vector<float>> rows(std::uint32_t n) {
        Random random;
        std::vector<std::vector<float>> rows;
        for (const float scale : {1.0f, 1e-3f, 1e6f, 0x1p-41f, 0x1p-39f, 0x1p49f})
            rows.push_back(random.floats(n, scale));
        rows.push_back(std::vector<float>(n, 0.0f));
        rows.push_back(std::vector<float>(n, -0.0f));
        rows.push_back(std::vector<float>(n, -3.75f));
        rows.push_back(std::vector<float>(n, FLT_MIN / 4));  // subnormal
        rows.push_back(std::vector<float>(n, 0x1p-40f));     // the least maximum that is not zero
        rows.push_back(std::vector<float>(n, std::nextafterf(0x1p-40f, 0.0f)));
        std::vector<float> last_is_largest = random.floats(n);
        last_is_largest[n - 1] = -7.0f;
        rows.push_back(last_is_largest);
        std::vector<float> ties(n);  // x * r is exactly on .5: with m = 127, r = 1
        for (std::uint32_t i = 0; i < n; ++i)
            ties[i] = static_cast<float>(static_cast<int>(i % 253) - 126) + 0.5f;
        ties[0] = 127.0f;
        rows.push_back(ties);
        return rows;
    }
};
INSTANTIATE_TEST_SUITE_P(Kernels, Rows, ::testing::ValuesIn(usable_sets()), set_name);

// q of an encoded row, read back through a product with unit weights.
std::vector<std::int8_t> decode(const KernelSet& set, const EdgeArray<std::uint8_t>& encoded, std::uint32_t n) {
    std::vector<std::int8_t> q(n);
    EdgeArray<std::uint8_t> copy(encoded.size());
    std::memcpy(copy.data(), encoded.data(), encoded.size());
    float one = 1.0f;
    for (std::uint32_t i = 0; i < n; ++i) {
        std::vector<std::int8_t> unit(n);
        unit[i] = 1;
        const EdgeArray<std::int8_t> weights = pack(set.packing, unit, 1, n);
        float value = 0.0f;
        const MatmulS8 m{{copy.data(), &one, 0}, weights.data(), nullptr, nullptr, nullptr, &value, 1, 1, n, 1,
                         Activation::none};
        set.matmul_s8(m, 0, 1);
        q[i] = static_cast<std::int8_t>(value);
    }
    return q;
}

TEST_P(Rows, QuantizeRoundsToNearestEvenAndScales) {
    for (const std::uint32_t n : kLengths) {
        for (const std::vector<float>& row : rows(n)) {
            const EdgeArray<float> x(row);
            EdgeArray<std::int8_t> q(n, std::int8_t{99});
            const float scale = set().quantize_row_s8(x.data(), n, q.data());

            float largest = 0.0f;
            for (const float value : row)
                largest = std::fmax(largest, std::fabs(value));
            for (std::uint32_t i = 0; i < n; ++i) {
                volatile float factor = 127.0f / largest;
                volatile float product = row[i] * factor;
                const float want = largest < 0x1p-40f ? 0.0f : std::nearbyintf(product);
                ASSERT_EQ(q[i], static_cast<std::int8_t>(want)) << "n " << n << " i " << i;
            }
            ASSERT_TRUE(same_bits(scale, largest < 0x1p-40f ? 0.0f : largest * static_cast<float>(1.0 / 127.0)));
        }
    }
}

TEST_P(Rows, EncodedRowsHoldTheSameValuesAndZeroPadding) {
    for (const std::uint32_t n : kLengths) {
        for (const std::vector<float>& row : rows(n)) {
            const EdgeArray<float> x(row);
            EdgeArray<std::int8_t> q(n);
            const float plain_scale = set().quantize_row_s8(x.data(), n, q.data());
            EdgeArray<std::uint8_t> encoded(round_up(n, kEncodedPadding) * set().encoded_row_bytes_per_value, 0xA5);
            const float scale = set().quantize_row(x.data(), n, encoded.data());
            ASSERT_TRUE(same_bits(scale, plain_scale));
            if (n <= 100) {
                ASSERT_TRUE(same_bits(decode(set(), encoded, n), q)) << "n " << n;
            }
            // The padding: encode the same values followed by explicit zeros.
            std::vector<float> padded = row;
            padded.resize(round_up(n, kEncodedPadding));
            EdgeArray<std::uint8_t> want(encoded.size(), 0xA5);  // what no set need write is left
            set().quantize_row(padded.data(), static_cast<std::uint32_t>(padded.size()), want.data());
            ASSERT_TRUE(same_bits(encoded, want)) << "n " << n;
        }
    }
}

TEST_P(Rows, QuantizeAsScalar) {
    for (const std::uint32_t n : kLengths) {
        for (const std::vector<float>& row : rows(n)) {
            const EdgeArray<float> x(row);
            EdgeArray<std::int8_t> got(n);
            EdgeArray<std::int8_t> want(n);
            const float scale = set().quantize_row_s8(x.data(), n, got.data());
            ASSERT_TRUE(same_bits(scale, reference().quantize_row_s8(x.data(), n, want.data())));
            ASSERT_TRUE(same_bits(got, want));
        }
    }
}

TEST_P(Rows, LayerNormAsScalarAndNearDouble) {
    for (const std::uint32_t n : kLengths) {
        for (const std::vector<float>& row : rows(n)) {
            Random random(n);
            const EdgeArray<float> gamma(random.floats(n, 0.5f, 1.0f));
            const EdgeArray<float> beta(random.floats(n));
            const float inverse_n = static_cast<float>(1.0 / n);
            const EdgeArray<float> x(row);
            EdgeArray<float> got(n);
            EdgeArray<float> in_place(row);
            EdgeArray<float> want(n);
            set().layer_norm_row(x.data(), got.data(), n, gamma.data(), beta.data(), 1e-12f, inverse_n);
            set().layer_norm_row(in_place.data(), in_place.data(), n, gamma.data(), beta.data(), 1e-12f, inverse_n);
            reference().layer_norm_row(x.data(), want.data(), n, gamma.data(), beta.data(), 1e-12f, inverse_n);
            ASSERT_TRUE(same_bits(got, want)) << "n " << n;
            ASSERT_TRUE(same_bits(in_place, want)) << "n " << n;
            ASSERT_TRUE(same_bits(x, row)) << "n " << n;
        }
        const std::vector<float> row = Random(n + 1).floats(n, 2.0f, 0.5f);
        EdgeArray<float> got(n);
        const std::vector<float> ones(n, 1.0f);
        const std::vector<float> zeros(n, 0.0f);
        set().layer_norm_row(row.data(), got.data(), n, ones.data(), zeros.data(), 1e-5f, static_cast<float>(1.0 / n));
        double mean = 0;
        double variance = 0;
        for (const float x : row)
            mean += x / static_cast<double>(n);
        for (const float x : row)
            variance += (x - mean) * (x - mean) / n;
        for (std::uint32_t i = 0; i < n; ++i) {
            ASSERT_NEAR(got[i], (row[i] - mean) / std::sqrt(variance + 1e-5), n == 1 ? 1e-3 : 2e-5) << "n " << n;
        }
    }
}

TEST_P(Rows, RmsNormAsScalarAndNearDouble) {
    for (const std::uint32_t n : kLengths) {
        const float inverse_n = static_cast<float>(1.0 / n);
        for (const std::vector<float>& row : rows(n)) {
            const EdgeArray<float> gamma(Random(n).floats(n, 0.5f, 1.0f));
            const EdgeArray<float> x(row);
            EdgeArray<float> got(n);
            EdgeArray<float> in_place(row);
            EdgeArray<float> want(n);
            set().rms_norm_row(x.data(), got.data(), n, gamma.data(), 1e-12f, inverse_n);
            set().rms_norm_row(in_place.data(), in_place.data(), n, gamma.data(), 1e-12f, inverse_n);
            reference().rms_norm_row(x.data(), want.data(), n, gamma.data(), 1e-12f, inverse_n);
            ASSERT_TRUE(same_bits(got, want)) << "n " << n;
            ASSERT_TRUE(same_bits(in_place, want)) << "n " << n;
            ASSERT_TRUE(same_bits(x, row)) << "n " << n;
        }
        const std::vector<float> row = Random(n + 1).floats(n, 2.0f, 0.5f);
        const std::vector<float> gamma = Random(n + 2).floats(n, 0.5f, 1.0f);
        EdgeArray<float> got(n);
        set().rms_norm_row(row.data(), got.data(), n, gamma.data(), 1e-5f, inverse_n);
        double squares = 0;
        for (const double x : row)
            squares += x * x / n;
        for (std::uint32_t i = 0; i < n; ++i)
            ASSERT_NEAR(got[i], row[i] / std::sqrt(squares + 1e-5) * gamma[i], 5e-6) << "n " << n;
    }
}

// The contract's sum, seen through exp2_row: element i in partial i mod 16, then +8, +4, +2, +1.
TEST_P(Rows, SumsUseSixteenPartialsAndATree) {
    for (const std::uint32_t n : kLengths) {
        EdgeArray<float> t(Random(n).floats(n, 6.0f));
        const float sum = set().exp2_row(t.data(), n);
        float partials[16] = {};
        for (std::uint32_t i = 0; i < n; ++i)
            partials[i % 16] += t[i];
        for (std::uint32_t half : {8u, 4u, 2u, 1u}) {
            for (std::uint32_t i = 0; i < half; ++i)
                partials[i] += partials[i + half];
        }
        ASSERT_TRUE(same_bits(sum, partials[0])) << "n " << n;
    }
}

TEST_P(Rows, Exp2RowAsScalarAndOneAtTheMaximum) {
    for (const std::uint32_t n : kLengths) {
        for (const float scale : {0.0f, 1.0f, 20.0f, 80.0f, 1e6f}) {
            const std::vector<float> row = Random(n).floats(n, scale, 5.0f);
            EdgeArray<float> got(row);
            EdgeArray<float> want(row);
            const float sum = set().exp2_row(got.data(), n);
            ASSERT_TRUE(same_bits(sum, reference().exp2_row(want.data(), n)));
            ASSERT_TRUE(same_bits(got, want)) << "n " << n;
            float largest = row[0];
            for (const float t : row)
                largest = std::fmax(largest, t);
            const EdgeArray<float> unscaled(row);
            EdgeArray<float> scaled(row);
            for (std::uint32_t i = 0; i < n; ++i)
                scaled[i] = row[i] * 1.4426950408889634f;
            ASSERT_TRUE(same_bits(set().largest_value(unscaled.data(), n), largest));
            ASSERT_TRUE(same_bits(set().exp2_sum(unscaled.data(), n, 1.4426950408889634f, largest),
                                  reference().exp2_row(scaled.data(), n)));
            for (std::uint32_t i = 0; i < n; ++i) {
                if (row[i] == largest) {
                    ASSERT_EQ(got[i], 1.0f);
                } else if (row[i] - largest < -64.0f) {
                    ASSERT_TRUE(same_bits(got[i], 0.0f));
                }
            }
        }
    }
}

TEST_P(Rows, ProbabilitiesAsScalarAndWithinSevenBits) {
    for (const std::uint32_t n : kLengths) {
        for (const float scale : {1.0f, 1e-3f, 0x1p-41f, 0x1p-40f, 0.0f}) {
            std::vector<float> e = Random(n).floats(n, 0.5f, 0.5f);
            e[n / 2] = 1.0f;
            const EdgeArray<float> scales(Random(n + 1).floats(n, 0.4f * scale, 0.6f * scale));
            EdgeArray<float> got(e);
            EdgeArray<float> want(e);
            EdgeArray<std::uint8_t> encoded(round_up(n, kEncodedPadding) * set().encoded_row_bytes_per_value, 0xA5);
            EdgeArray<std::uint8_t> expected(round_up(n, kEncodedPadding), 0xA5);
            const float largest = set().quantize_probabilities(got.data(), scales.data(), n, encoded.data());
            ASSERT_TRUE(
                same_bits(largest, reference().quantize_probabilities(want.data(), scales.data(), n, expected.data())));
            ASSERT_TRUE(same_bits(got, want));
            if (n > 100) continue;
            const std::vector<std::int8_t> p = decode(set(), encoded, n);
            for (std::uint32_t i = 0; i < n; ++i) {
                ASSERT_EQ(p[i], static_cast<std::int8_t>(expected[i]));
                volatile float factor = 127.0f / largest;
                volatile float product = got[i] * factor;
                ASSERT_EQ(p[i], largest < 0x1p-40f ? 0 : static_cast<int>(std::nearbyintf(product)));
                ASSERT_GE(p[i], 0);
            }
        }
    }
}

}  // namespace
}  // namespace etch::testing
