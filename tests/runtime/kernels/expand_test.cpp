// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits to s8, of every set: the bytes that packing.hpp's index functions and the products give.
#include <algorithm>

#include "support.hpp"

namespace etch::testing {
namespace {

class Expand : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, Expand, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(Expand, GivesTheProductsAndZeroPadding) {
    const Packing packing = set().packing;
    for (const std::uint32_t n : {1u, 3u, 4u, 15u, 16u, 17u, 33u, 64u}) {
        for (const std::uint32_t k :
             {1u, 3u, 4u, 5u, 8u, 9u, 12u, 15u, 16u, 17u, 31u, 32u, 33u, 37u, 48u, 49u, 64u, 96u}) {
            SCOPED_TRACE("n " + std::to_string(n) + ", k " + std::to_string(k));
            const S4Table table(packing, n, k);
            EdgeArray<std::int8_t> got(packed_s8_bytes(packing, n, k), 99);
            set().expand_s4(table.q.data(), table.factors.data(), n, k, got.data());
            ASSERT_TRUE(same_bits(got, pack(packing, table.expanded, n, k)));
        }
    }
}

// Each nibble with each factor that keeps it within s8.
TEST_P(Expand, EveryProduct) {
    const Packing packing = set().packing;
    for (int factor = 1; factor <= 127; ++factor) {
        EdgeArray<std::uint8_t> factors(packed_s4_factors(packing, 16, 32), static_cast<std::uint8_t>(factor));
        EdgeArray<std::int8_t> q(packed_s4_bytes(packing, 16, 32));
        std::vector<std::int8_t> want(16 * 32);
        for (std::uint32_t i = 0; i < 16; ++i) {
            for (std::uint32_t j = 0; j < 32; ++j) {
                const int value = static_cast<int>((i + j) % 16) - 8;
                if (value * factor > 127 || value * factor < -127) continue;
                std::int8_t& byte = q[packed_s4_index(packing, i, j, 32)];
                byte = static_cast<std::int8_t>(byte | ((value & 15) << (packed_s4_high(packing, j) ? 4 : 0)));
                want[i * 32 + j] = static_cast<std::int8_t>(value * factor);
            }
        }
        EdgeArray<std::int8_t> got(packed_s8_bytes(packing, 16, 32));
        set().expand_s4(q.data(), factors.data(), 16, 32, got.data());
        ASSERT_TRUE(same_bits(got, pack(packing, want, 16, 32))) << factor;
    }
}

// The product without expanding, where a set has it beside: the bits of the product of what is expanded.
TEST_P(Expand, ProductInTheTileIsTheSame) {
    if (set().matmul_s4 == nullptr) GTEST_SKIP() << "this set has none";
    const std::uint32_t most = set().matmul_s4_rows;
    ASSERT_GE(most, 1u);
    for (std::uint32_t rows = 1; rows <= most; ++rows) {
        for (const std::uint32_t n : {1u, 15u, 16u, 40u, 72u}) {
            for (const std::uint32_t k : {1u, 4u, 5u, 15u, 16u, 17u, 31u, 32u, 33u, 40u, 49u, 96u, 160u}) {
                SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(n) + ", k " + std::to_string(k));
                S4Table table(set().packing, n, k);
                std::vector<float> x = Random(k + rows).floats(std::size_t{rows} * k);
                if (k == 160) {  // the largest sums of a group that there are
                    std::fill(x.begin(), x.end(), rows % 2 == 0 ? 1.0f : -1.0f);
                    std::fill_n(table.q.data(), table.q.size(), static_cast<std::int8_t>(-120));  // -8 twice
                    std::fill_n(table.factors.data(), table.factors.size(), std::uint8_t{15});
                }
                EncodedRows a(set(), x, rows, k);
                const std::vector<float> constants = Random(n).floats(n, 0.01f, 0.02f);
                EdgeArray<std::int8_t> expanded(packed_s8_bytes(set().packing, n, k));
                set().expand_s4(table.q.data(), table.factors.data(), n, k, expanded.data());
                // With both an activation and a residual some sets take a row and a panel at a time.
                for (const bool adds : {false, true}) {
                    const std::vector<float> before = Random().floats(std::size_t{rows} * n);
                    std::vector<float> want = before;
                    std::vector<float> got = before;
                    std::vector<float> at_once = before;
                    const auto into = [&](std::vector<float>& out, const std::int8_t* weights) {
                        return MatmulS8{a.view(),
                                        weights,
                                        constants.data(),
                                        constants.data(),
                                        adds ? out.data() : nullptr,
                                        out.data(),
                                        n,
                                        rows,
                                        k,
                                        n,
                                        Activation::relu};
                    };
                    set().matmul_s8(into(want, expanded.data()), 0, (n + 15) / 16);
                    for (std::uint32_t panel = 0; panel < (n + 15) / 16; ++panel)
                        set().matmul_s4(into(got, table.q.data()), table.factors.data(), panel, panel + 1);
                    ASSERT_TRUE(same_bits(got, want));
                    set().matmul_s4(into(at_once, table.q.data()), table.factors.data(), 0, (n + 15) / 16);
                    ASSERT_TRUE(same_bits(at_once, want));
                }
            }
        }
    }
}

// Where a table's outputs begin is what linears count on.
TEST(S4Packing, PartsOfATableAreTables) {
    for (const Packing packing : {Packing::panel, Packing::rows}) {
        for (const std::uint32_t k : {1u, 8u, 37u, 64u}) {
            for (const std::uint32_t first : {16u, 32u, 48u}) {
                EXPECT_EQ(packed_s4_bytes(packing, first, k), packed_s4_index(packing, first, 0, k));
                EXPECT_EQ(packed_s4_factors(packing, first, k), packed_s4_factor_index(packing, first, 0, k));
            }
        }
    }
}

}  // namespace
}  // namespace etch::testing
