// SPDX-License-Identifier: Apache-2.0
// Weights of words against their header's formula in doubles, and every set and cut against the scalar set in one
// piece.
#include "etch/ops/word_weights.hpp"

#include <cmath>

#include "kernels/scalar/math.hpp"
#include "support.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kWidth = 33;
constexpr std::uint32_t kEntries[] = {1, 16, 95, 96, 97, 205};
constexpr std::uint32_t kRows[] = {1, 15, 16, 17, 35};

struct Form {
    WordPooling pooling;
    bool twice;
};
constexpr Form kForms[] = {
    {WordPooling::max, false}, {WordPooling::max, true}, {WordPooling::sum, false}, {WordPooling::sum, true}};

// Scratch that ends where the op's share of it does.
struct Scratch {
    explicit Scratch(Packing packing)
        : bytes(round_up(word_weights_scratch_bytes() + expanded_bytes(packing, kWidth), 64), 0x5A) {}
    OpContext context(const KernelSet& set) { return {set, bytes.data()}; }

    EdgeArray<std::uint8_t> bytes;
};

struct Values {
    Values(std::uint32_t of_entries, std::uint32_t of_rows) : entries(of_entries), rows(of_rows) {
        Random random(kSeed + entries + rows);
        w = random.floats(entries * kWidth, 0.4f);
        q = random.s8s(entries * kWidth);
        scales = random.floats(entries, 0.002f, 0.003f);
        bias = random.floats(entries, 0.5f, -0.3f);
        input = random.floats(rows * kWidth, 1.0f);
    }

    std::uint32_t entries;
    std::uint32_t rows;
    std::vector<float> w;
    std::vector<std::int8_t> q;
    std::vector<float> scales;
    std::vector<float> bias;
    std::vector<float> input;
};

// `at_once` units at a time, from the last to the first.
template <class Weights, class Input>
std::vector<float> weights_of(const KernelSet& set, const Weights& weights, const Input& input, std::uint32_t rows,
                              const Form& form, std::uint32_t at_once) {
    Scratch scratch(set.packing);
    EdgeArray<float> out(weights.outputs, NAN);
    const WordWeights<Weights> op{weights, rows, input, {out.data(), weights.outputs}, form.pooling, form.twice};
    EXPECT_EQ(op.units(), (weights.outputs + 15) / 16);
    for (std::uint32_t last = op.units(); last > 0;) {
        const std::uint32_t first = last < at_once ? 0 : last - at_once;
        op.run(scratch.context(set), first, last);
        last = first;
    }
    return {out.data(), out.data() + weights.outputs};
}

// The rows of some values as bytes.
struct Encoded {
    Encoded(const KernelSet& set, const Values& v)
        : stride(encoded_row_bytes(set.packing, kWidth)), bytes(round_up(v.rows * stride, 64)), scales(v.rows) {
        std::vector<float> rows = v.input;
        for (std::uint32_t row = 0; row < v.rows; ++row)
            scales[row] = set.quantize_row(&rows[row * kWidth], kWidth, bytes.data() + row * stride);
    }
    QuantizedRows rows() { return {bytes.data(), scales.data(), stride}; }

    std::size_t stride;
    EdgeArray<std::uint8_t> bytes;
    std::vector<float> scales;
};

struct Both {
    std::vector<float> s8;
    std::vector<float> f32;
};

Both both_kinds(const KernelSet& set, const Values& v, const Form& form, std::uint32_t at_once) {
    const EdgeArray<std::int8_t> bytes = pack(set.packing, v.q, v.entries, kWidth);
    const EdgeArray<float> floats = pack(set.packing, v.w, v.entries, kWidth);
    std::vector<float> rows = v.input;
    Encoded encoded(set, v);
    const S8Weights s8{bytes.data(), v.scales.data(), v.bias.data(), v.entries, kWidth};
    const F32Weights f32{floats.data(), nullptr, v.entries, kWidth};
    return {weights_of(set, s8, encoded.rows(), v.rows, form, at_once),
            weights_of(set, f32, F32Rows{rows.data(), kWidth}, v.rows, form, at_once)};
}

TEST(WordWeights, MeanWhatTheirHeaderSays) {
    for (const Form& form : kForms) {
        for (const std::uint32_t rows : kRows) {
            const Values v(205, rows);
            const std::vector<float> found = both_kinds(scalar(Packing::panel), v, form, 100).f32;
            std::uint32_t zeros = 0;
            for (std::uint32_t entry = 0; entry < v.entries; ++entry) {
                double largest = 0;
                double sum = 0;
                for (std::uint32_t row = 0; row < rows; ++row) {
                    double x = 0;
                    for (std::uint32_t k = 0; k < kWidth; ++k)
                        x += static_cast<double>(v.w[entry * kWidth + k]) *
                             static_cast<double>(v.input[row * kWidth + k]);
                    const double once = std::log1p(std::fmax(x, 0.0));
                    const double weight = form.twice ? std::log1p(once) : once;
                    largest = std::fmax(largest, weight);
                    sum += weight;
                }
                const double meant = form.pooling == WordPooling::max ? largest : sum;
                ASSERT_NEAR(static_cast<double>(found[entry]), meant, 2e-6 * (1 + meant)) << entry << " of " << rows;
                zeros += found[entry] == 0.0f ? 1 : 0;
            }
            EXPECT_LT(zeros, v.entries);
            EXPECT_TRUE(rows > 1 || zeros > 50);
        }
    }
}

TEST(WordWeights, CountTinyLogitsAsNone) {
    const float w[] = {1.0f};
    for (const float x : {0x1p-41f, 0x1.fffffep-41f, 0x1p-40f, 1.0f}) {
        std::vector<float> input(kWidth, 0.0f);
        std::vector<float> packed(16 * kWidth, 0.0f);
        packed[0] = w[0];
        input[0] = x;
        const F32Weights weights{packed.data(), nullptr, 1, kWidth};
        for (const Form& form : kForms) {
            const std::vector<float> found =
                weights_of(scalar(Packing::panel), weights, F32Rows{input.data(), kWidth}, 1, form, 1);
            const float once = x < 0x1p-40f ? 0.0f : scalar::log1p(x);
            EXPECT_TRUE(same_bits(found[0], form.twice ? scalar::log1p(once) : once)) << x;
        }
    }
}

TEST(WordWeights, LogarithmIsThatOfDoubles) {
    EXPECT_TRUE(same_bits(scalar::log1p(0.0f), 0.0f));
    EXPECT_TRUE(same_bits(scalar::log1p(0x1p-40f), 0x1p-40f));
    for (float x = 0x1p-40f; x < 0x1p60f; x *= 1.0009f) {
        const double meant = std::log1p(static_cast<double>(x));
        ASSERT_NEAR(static_cast<double>(scalar::log1p(x)) / meant, 1.0, 6e-7) << x;
    }
}

class WordWeightsSets : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Ops, WordWeightsSets, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(WordWeightsSets, HaveTheScalarBitsHoweverTheyAreCut) {
    for (const Form& form : kForms) {
        for (const std::uint32_t entries : kEntries) {
            for (const std::uint32_t rows : kRows) {
                const Values v(entries, rows);
                const Both want = both_kinds(scalar(set().packing), v, form, 100);
                for (const std::uint32_t at_once : {1u, 5u, 6u, 7u, 100u}) {
                    const Both found = both_kinds(set(), v, form, at_once);
                    EXPECT_TRUE(same_bits(found.s8, want.s8)) << entries << ", " << rows << ", units " << at_once;
                    EXPECT_TRUE(same_bits(found.f32, want.f32)) << entries << ", " << rows << ", units " << at_once;
                }
            }
        }
    }
}

// By definition: 4 bits are the s8 product on the table that they stand for.
TEST_P(WordWeightsSets, FourBitsAreTheExpandedTable) {
    for (const std::uint32_t rows : kRows) {
        const Values v(205, rows);
        const S4Table table(set().packing, v.entries, kWidth);
        const EdgeArray<std::int8_t> expanded = pack(set().packing, table.expanded, v.entries, kWidth);
        const S8Weights eight{expanded.data(), v.scales.data(), nullptr, v.entries, kWidth};
        const S8Weights four{table.q.data(), v.scales.data(), nullptr, v.entries, kWidth, table.factors.data()};
        Encoded encoded(set(), v);
        for (const Form& form : kForms) {
            EXPECT_TRUE(same_bits(weights_of(set(), four, encoded.rows(), rows, form, 5),
                                  weights_of(set(), eight, encoded.rows(), rows, form, 100)));
        }
    }
}

}  // namespace
}  // namespace etch::testing
