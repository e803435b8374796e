// SPDX-License-Identifier: Apache-2.0
// Products of weights in [-63, 63], of the sets that have them as a case of their own: bit for bit against the scalar
// set, over sizes around every tile and panel, and where a sum of 16 bits would saturate.
#include "matmul_case.hpp"

namespace etch::testing {
namespace {

std::vector<const KernelSet*> sets_of_s7() {
    std::vector<const KernelSet*> sets;
    for (const KernelSet* set : usable_sets()) {
        if (set->matmul_s7 != nullptr) sets.push_back(set);
    }
    return sets;
}

class MatmulS7 : public EachSet {
  protected:
    void expect_as_scalar(const Case& c, const Case::Options& options) const {
        SCOPED_TRACE(describe(c.size));
        ASSERT_TRUE(same_bits(c.s7(set(), options), c.s8(scalar(Packing::panel), options)));
    }
};
INSTANTIATE_TEST_SUITE_P(Kernels, MatmulS7, ::testing::ValuesIn(sets_of_s7()), set_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MatmulS7);  // CPUs without such a set

Case narrow_case(Size size) {
    Case c(size);
    c.q_weights = Random(kSeed + 1).s7s(c.q_weights.size());
    return c;
}

TEST_P(MatmulS7, EveryNumberOfRows) {
    for (std::uint32_t rows = 1; rows <= 70; ++rows) {
        for (const std::uint32_t k : {1u, 3u, 4u, 16u, 37u, 64u}) {
            for (const std::uint32_t n : {16u, 21u})
                expect_as_scalar(narrow_case({rows, k, n}), {});
        }
    }
    for (const std::uint32_t rows : {127u, 128u, 129u, 200u})
        expect_as_scalar(narrow_case({rows, 40, 48}), {});
}

TEST_P(MatmulS7, EveryEndOfInputsAndOutputs) {
    for (const std::uint32_t rows : {1u, 2u, 3u, 4u, 7u}) {
        for (std::uint32_t k = 1; k <= 40; ++k) {
            for (const std::uint32_t n : {1u, 7u, 8u, 9u, 15u, 16u, 17u, 33u})
                expect_as_scalar(narrow_case({rows, k, n}), {});
        }
    }
}

TEST_P(MatmulS7, EveryOption) {
    for (const Size& size : {Size{7, 37, 40}, Size{4, 64, 32}, Size{69, 20, 30}}) {
        const Case c = narrow_case(size);
        for (const Activation activation : kAllActivations) {
            for (const Residual residual : {Residual::none, Residual::separate, Residual::same_as_out}) {
                for (const bool plain : {false, true})
                    expect_as_scalar(c, {activation, residual, plain, plain, true, {}, {}, 0});
            }
        }
    }
}

TEST_P(MatmulS7, APartOfThePanelsAndMoreInputsThanAreMultiplied) {
    const Case c = narrow_case({5, 37, 75});
    for (std::uint32_t first = 0; first <= c.panels(); ++first) {
        for (std::uint32_t last = first; last <= c.panels(); ++last)
            expect_as_scalar(c, {Activation::none, Residual::none, true, true, true, first, last, first});
    }
}

// Pairs of products are at most 2 * 127 * 127 where both weights are 63, in whatever way a set makes an operand
// unsigned. All of one sign, and each other one: a sum of 16 bits that saturates shows in every one of them.
TEST_P(MatmulS7, LargestMagnitudesDoNotSaturate) {
    for (const std::uint32_t k : {4u, 37u, 1536u, 65536u}) {
        for (const int a_sign : {-1, 1}) {
            for (const int w_sign : {-1, 1, 0}) {  // 0: alternating
                Case c = narrow_case({5, k, 20});
                for (float& x : c.x)
                    x = static_cast<float>(a_sign) * 2.5f;
                for (std::size_t i = 0; i < c.q_weights.size(); ++i) {
                    const int sign = w_sign != 0 ? w_sign : i % 2 == 0 ? 1 : -1;
                    c.q_weights[i] = static_cast<std::int8_t>(63 * sign);
                }
                expect_as_scalar(c, {Activation::none, Residual::none, false, false, true, {}, {}, 0});
            }
        }
    }
}

}  // namespace
}  // namespace etch::testing
