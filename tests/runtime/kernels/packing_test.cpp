// SPDX-License-Identifier: Apache-2.0
// The index functions of packing.hpp: every element has a place of its own, inside the table.
#include <vector>

#include "support.hpp"

namespace etch::testing {
namespace {

TEST(PackingIndices, AreOneToOneAndInsideTheTable) {
    for (const Packing packing : {Packing::panel, Packing::rows}) {
        for (const std::size_t n : {1u, 5u, 15u, 16u, 17u, 40u}) {
            for (const std::size_t k : {1u, 3u, 4u, 5u, 16u, 37u}) {
                std::vector<int> s8(packed_s8_bytes(packing, n, k));
                std::vector<int> f32(packed_f32_elements(packing, n, k));
                for (std::size_t i = 0; i < n; ++i) {
                    for (std::size_t j = 0; j < k; ++j) {
                        ++s8.at(packed_s8_index(packing, i, j, k));
                        ++f32.at(packed_f32_index(packing, i, j, k));
                    }
                }
                std::size_t used = 0;
                for (const int count : s8)
                    used += static_cast<std::size_t>(count == 1);
                EXPECT_EQ(used, n * k);
                used = 0;
                for (const int count : f32)
                    used += static_cast<std::size_t>(count == 1);
                EXPECT_EQ(used, n * k);
            }
        }
    }
}

TEST(PackingIndices, ArePinned) {
    // s8 panel [n/16][k/4][16][4] and f32 panel [n/16][k][16] of a 20 x 10 matrix.
    EXPECT_EQ(packed_s8_index(Packing::panel, 0, 0, 10), 0u);
    EXPECT_EQ(packed_s8_index(Packing::panel, 1, 2, 10), 6u);
    EXPECT_EQ(packed_s8_index(Packing::panel, 3, 9, 10), 2u * 64 + 3 * 4 + 1);
    EXPECT_EQ(packed_s8_index(Packing::panel, 17, 5, 10), 192u + 64 + 4 + 1);
    EXPECT_EQ(packed_f32_index(Packing::panel, 17, 5, 10), 160u + 5 * 16 + 1);
    // rows: k padded to 16 for s8 only.
    EXPECT_EQ(packed_s8_index(Packing::rows, 17, 5, 10), 17u * 16 + 5);
    EXPECT_EQ(packed_f32_index(Packing::rows, 17, 5, 10), 17u * 10 + 5);
    EXPECT_EQ(packed_s8_bytes(Packing::panel, 20, 10), 32u * 12);
    EXPECT_EQ(packed_s8_bytes(Packing::rows, 20, 10), 20u * 16);
}

// While compiling, where nothing that is undefined passes.
constexpr bool every_byte_holds_two_numbers() {
    for (int high = -8; high < 8; ++high) {
        for (int low = -8; low < 8; ++low) {
            const auto byte = static_cast<std::int8_t>(high * 16 + (low & 15));
            if (s4_value(byte, true) != high || s4_value(byte, false) != low) return false;
        }
    }
    return true;
}
static_assert(every_byte_holds_two_numbers(), "s4_value");

}  // namespace
}  // namespace etch::testing
