// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits to s8, of every set: the bytes that packing.hpp's index functions and the products give.
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
