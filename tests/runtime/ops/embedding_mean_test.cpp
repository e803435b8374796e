// SPDX-License-Identifier: Apache-2.0
// The mean of entries against a sum of embeddings and a pooling, bit for bit, and what it means.
#include "etch/ops/embedding_mean.hpp"

#include "support.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kEntries = 20;
constexpr std::uint32_t kWidths[] = {1, 15, 16, 17, 32, 70};
const OpContext kContext{scalar(Packing::panel), nullptr};

std::vector<std::int32_t> ids_of(std::uint32_t count) {
    std::vector<std::int32_t> ids(count);
    for (std::uint32_t i = 0; i < count; ++i)
        ids[i] = static_cast<std::int32_t>((i * 7 + count) % kEntries);
    return ids;
}

template <class Embedding>
void expect_same(const Embedding& table, std::uint32_t width) {
    for (const std::uint32_t count : {1u, 2u, 9u, 130u}) {
        const std::vector<std::int32_t> ids = ids_of(count);
        const std::vector<std::uint8_t> segments(count);
        const TextRows text{0, count, 0, count, 0};
        const EmbeddingTerm<Embedding> terms[] = {{table, EmbeddedBy::id}};
        std::vector<float> rows(std::size_t{count} * width);
        const EmbeddingSum<Embedding> sum{terms, Texts{&text, 1}, ids.data(), segments.data(), {rows.data(), width}};
        sum.run(kContext, 0, sum.units());
        std::vector<float> want(width);
        const Pool pool{Pooling::mean, count, {rows.data(), width}, {want.data(), width}};
        pool.run(kContext, 0, pool.units());

        EdgeArray<float> out(width, -7.0f);
        const EmbeddingMean<Embedding> op{table, count, ids.data(), {out.data(), width}};
        ASSERT_EQ(op.units(), (width + 15) / 16);
        ASSERT_GE(op.cost(), 1u);
        run_backwards(op, kContext);
        ASSERT_EQ(std::memcmp(out.data(), want.data(), width * sizeof(float)), 0) << count << " of " << width;
        EdgeArray<float> at_once(width, -7.0f);
        const EmbeddingMean<Embedding> same{table, count, ids.data(), {at_once.data(), width}};
        same.run(kContext, 0, same.units());
        ASSERT_EQ(std::memcmp(at_once.data(), want.data(), width * sizeof(float)), 0) << count << " of " << width;
    }
}

TEST(EmbeddingMean, OfBytes) {
    for (const std::uint32_t width : kWidths) {
        const std::vector<std::int8_t> q = Random(width).s8s(kEntries * width);
        std::vector<float> scales = Random(width + 1).floats(kEntries, 0.01f, 0.02f);
        scales[3] = 0x1p-44f;  // some of its values count as 0
        expect_same(S8Embedding{q.data(), scales.data()}, width);
    }
}

TEST(EmbeddingMean, OfFourBits) {
    for (const std::uint32_t width : kWidths) {
        const S4Table table(Packing::rows, kEntries, width, width);
        const std::vector<float> scales = Random(width + 1).floats(kEntries, 0.01f, 0.02f);
        expect_same(S8Embedding{table.q.data(), scales.data(), table.factors.data()}, width);
    }
}

TEST(EmbeddingMean, OfFloats) {
    for (const std::uint32_t width : kWidths) {
        std::vector<float> values = Random(width).floats(kEntries * width, 3.0f);
        for (std::size_t i = 0; i < values.size(); i += 5)
            values[i] = i % 2 == 0 ? -0x1p-41f : 1e-41f;
        expect_same(F32Embedding{values.data()}, width);
    }
}

TEST(EmbeddingMean, MeansWhatItSays) {
    const float values[] = {1.0f, -2.0f, 3.0f, 4.0f, 8.0f, 16.0f};  // three entries of two values
    const std::int32_t ids[] = {2, 0, 0, 1};
    float out[2];
    const EmbeddingMean<F32Embedding> op{{values}, 4, ids, {out, 2}};
    op.run(kContext, 0, 1);
    EXPECT_EQ(out[0], (8.0f + 1.0f + 1.0f + 3.0f) / 4);
    EXPECT_EQ(out[1], (16.0f - 2.0f - 2.0f + 4.0f) / 4);
}

}  // namespace
}  // namespace etch::testing
