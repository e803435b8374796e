// SPDX-License-Identifier: Apache-2.0
// The square root of CPUs without one: as the hardware's.
#include "kernels/square_root.hpp"

#include <cmath>

#include "support.hpp"

namespace etch::testing {
namespace {

float from_bits(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

TEST(SquareRoot, OfEveryExponentIsRoundedCorrectly) {
    Random random;
    for (std::uint32_t exponent = 1; exponent < 0xFF; ++exponent) {
        for (unsigned i = 0; i < 2000; ++i) {
            const float x = from_bits(exponent << 23 | (random.bits() & 0x7FFFFFu));
            ASSERT_TRUE(same_bits(square_root_by_integers(x), std::sqrt(x))) << x;
        }
    }
}

TEST(SquareRoot, AtEdgesIsRoundedCorrectly) {
    for (std::uint32_t exponent = 1; exponent < 0xFF; ++exponent) {
        for (const std::uint32_t mantissa : {0u, 1u, 2u, 3u, 0x3FFFFFu, 0x400000u, 0x7FFFFDu, 0x7FFFFEu, 0x7FFFFFu}) {
            const float x = from_bits(exponent << 23 | mantissa);
            ASSERT_TRUE(same_bits(square_root_by_integers(x), std::sqrt(x))) << x;
        }
    }
    EXPECT_TRUE(same_bits(square_root_by_integers(0.0f), 0.0f));
    EXPECT_TRUE(same_bits(square_root_by_integers(-0.0f), -0.0f));
}

}  // namespace
}  // namespace etch::testing
