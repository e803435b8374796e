// SPDX-License-Identifier: Apache-2.0
// Matrix products of every set: against exact integers or the contract's float sequence, and bit for bit against the
// scalar set, over sizes around every tile and panel.
#include "matmul_case.hpp"

namespace etch::testing {
namespace {

// Tiles are 2, 4, 6 or 9 rows by 1 to 6 panels of 16, chunks 20 or 64, groups of k 4, 1 to 4 of them in the last 16 k,
// encoded padding 16.
std::vector<Size> all_sizes() {
    std::vector<Size> sizes;
    for (const std::uint32_t rows : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u}) {
        for (const std::uint32_t k : {1u, 3u, 4u, 5u, 11u, 15u, 16u, 17u, 37u, 96u}) {
            for (const std::uint32_t n : {1u, 7u, 8u, 9u, 15u, 16u, 17u, 33u, 48u})
                sizes.push_back({rows, k, n});
        }
    }
    for (const std::uint32_t rows : {63u, 64u, 65u, 127u, 130u})
        sizes.push_back({rows, 37, 21});
    for (const std::uint32_t rows : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 11u, 12u, 13u}) {
        for (const std::uint32_t n : {47u, 63u, 64u, 65u, 96u, 112u, 117u, 128u})
            sizes.push_back({rows, 37, n});
    }
    for (const std::uint32_t rows : {3u, 4u, 5u, 8u, 9u, 10u, 11u, 14u, 17u, 18u, 19u, 26u, 27u, 28u}) {
        for (const std::uint32_t n : {32u, 48u, 96u, 100u, 160u, 192u})
            sizes.push_back({rows, 63 + rows, n});
    }
    for (const std::uint32_t k : {63u, 64u, 65u, 80u, 127u, 128u, 129u, 192u, 400u}) {  // 400: tiles of 10 groups of 4
        for (const std::uint32_t rows : {1u, 6u, 9u, 20u})
            sizes.push_back({rows, k, 64});
    }
    sizes.push_back({6, 1536, 40});
    sizes.push_back({20, 1536, 40});
    return sizes;
}

class Matmul : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, Matmul, ::testing::ValuesIn(usable_sets()), set_name);

// The contract written once more, from plain s8 rows and exact integers.
TEST_P(Matmul, S8IsExactIntegersAndTheContractsFloats) {
    for (const Size& size : all_sizes()) {
        SCOPED_TRACE(describe(size));
        const Case c(size);
        const EdgeArray<float> out = c.s8(set(), {});
        std::vector<float> want(out.size(), kUntouched);
        std::vector<std::int8_t> q(size.k);
        for (std::uint32_t row = 0; row < size.rows; ++row) {
            const float scale = set().quantize_row_s8(c.x.data() + std::size_t{row} * size.k, size.k, q.data());
            for (std::uint32_t column = 0; column < size.n; ++column) {
                std::int64_t sum = 0;
                for (std::uint32_t k = 0; k < size.k; ++k)
                    sum += q[k] * c.q_weights[std::size_t{column} * size.k + k];
                const float scaled = static_cast<float>(sum) * scale;
                const float by_column = scaled * c.column_scales[column];
                want[row * c.stride + column] = by_column + c.bias[column];
            }
        }
        ASSERT_TRUE(same_bits(out, want));
    }
}

TEST_P(Matmul, F32IsInTheOrderOfK) {
    for (const Size& size : all_sizes()) {
        SCOPED_TRACE(describe(size));
        const Case c(size);
        const EdgeArray<float> out = c.f32(set(), {});
        std::vector<float> want(out.size(), kUntouched);
        for (std::uint32_t row = 0; row < size.rows; ++row) {
            for (std::uint32_t column = 0; column < size.n; ++column) {
                volatile float sum = 0.0f;  // no reordering, no contraction, whatever this test is compiled with
                for (std::uint32_t k = 0; k < size.k; ++k) {
                    volatile float product =
                        c.x[std::size_t{row} * size.k + k] * c.f32_weights[std::size_t{column} * size.k + k];
                    sum = sum + product;
                }
                volatile float scaled = sum * c.row_scales[row];
                want[row * c.stride + column] = scaled + c.bias[column];
            }
        }
        ASSERT_TRUE(same_bits(out, want));
    }
}

TEST_P(Matmul, EverySizeAsScalar) {
    const KernelSet& reference = scalar(Packing::panel);
    for (const Size& size : all_sizes()) {
        SCOPED_TRACE(describe(size));
        const Case c(size);
        Case::Options options;
        options.activation = Activation::gelu;
        options.residual = Residual::same_as_out;
        ASSERT_TRUE(same_bits(c.s8(set(), options), c.s8(reference, options)));
        ASSERT_TRUE(same_bits(c.f32(set(), options), c.f32(reference, options)));
    }
}

// Every height and width of a tile, whole and with a panel that ends early, with all that changes what is done with it.
TEST_P(Matmul, EveryTileAsScalar) {
    const KernelSet& reference = scalar(Packing::panel);
    for (std::uint32_t rows = 1; rows <= 14; ++rows) {
        for (const std::uint32_t n : {16u, 11u, 32u, 27u, 48u, 43u, 64u, 59u, 80u, 75u, 128u, 123u}) {
            const Case c({rows, 8, n});
            SCOPED_TRACE(describe(c.size));
            for (const Activation activation : {Activation::none, Activation::relu}) {
                for (const Residual residual : {Residual::none, Residual::separate}) {
                    for (const bool plain : {false, true}) {
                        const Case::Options options{activation, residual, plain, plain, plain, {}, {}, 0};
                        ASSERT_TRUE(same_bits(c.s8(set(), options), c.s8(reference, options)));
                        ASSERT_TRUE(same_bits(c.f32(set(), options), c.f32(reference, options)));
                    }
                }
            }
        }
    }
}

// Of many rows, without a residual: blocks of whole tiles and of what is left, activated as they are done.
TEST_P(Matmul, ManyRowsAsScalar) {
    const KernelSet& reference = scalar(Packing::panel);
    for (const std::uint32_t rows : {31u, 32u, 33u, 48u, 64u, 80u, 97u}) {
        for (const std::uint32_t k : {16u, 64u, 128u, 200u}) {
            for (const std::uint32_t n : {16u, 40u, 64u, 75u}) {
                const Case c({rows, k, n});
                SCOPED_TRACE(describe(c.size));
                for (const Activation activation : {Activation::none, Activation::relu}) {
                    Case::Options options;
                    options.activation = activation;
                    ASSERT_TRUE(same_bits(c.s8(set(), options), c.s8(reference, options)));
                }
            }
        }
    }
}

TEST_P(Matmul, EveryOptionAsScalar) {
    const KernelSet& reference = scalar(Packing::panel);
    for (const Size& size : {Size{7, 37, 40}, Size{4, 64, 32}, Size{11, 20, 126}}) {
        const Case c(size);
        for (const Activation activation : kAllActivations) {
            for (const Residual residual : {Residual::none, Residual::separate, Residual::same_as_out}) {
                for (const bool scaled : {false, true}) {
                    for (const bool biased : {false, true}) {
                        const Case::Options options{activation, residual, scaled, biased, scaled, {}, {}, 0};
                        SCOPED_TRACE(static_cast<int>(activation));
                        ASSERT_TRUE(same_bits(c.s8(set(), options), c.s8(reference, options)));
                        ASSERT_TRUE(same_bits(c.f32(set(), options), c.f32(reference, options)));
                    }
                }
            }
        }
    }
}

// A cache of values is packed for more tokens than it has.
TEST_P(Matmul, WeightsMayBePackedForMoreInputs) {
    for (const std::uint32_t rows : {1u, 2u, 5u, 7u, 13u, 65u}) {
        for (const std::uint32_t k : {1u, 3u, 4u, 13u, 16u, 17u, 37u}) {
            for (const std::uint32_t n : {1u, 15u, 16u, 33u, 64u, 75u}) {
                const Case c({rows, k, n});
                SCOPED_TRACE(describe(c.size));
                const EdgeArray<float> s8 = c.s8(set(), {});
                const EdgeArray<float> f32 = c.f32(set(), {});
                for (const std::uint32_t more_k : {1u, 3u, 15u, 16u, 100u}) {
                    Case::Options options;
                    options.more_k = more_k;
                    ASSERT_TRUE(same_bits(c.s8(set(), options), s8)) << more_k;
                    ASSERT_TRUE(same_bits(c.f32(set(), options), f32)) << more_k;
                }
            }
        }
    }
}

TEST_P(Matmul, AResidualMayBeTheOutput) {
    const Case c({9, 37, 40});
    for (const Activation activation : {Activation::none, Activation::gelu}) {
        Case::Options separate;
        separate.activation = activation;
        separate.residual = Residual::separate;
        Case::Options same = separate;
        same.residual = Residual::same_as_out;
        const EdgeArray<float> want = c.s8(set(), separate);
        const EdgeArray<float> got = c.s8(set(), same);
        for (std::uint32_t row = 0; row < c.size.rows; ++row) {
            for (std::uint32_t column = 0; column < c.size.n; ++column) {
                const std::size_t at = row * c.stride + column;
                ASSERT_TRUE(same_bits(got[at], want[at]));
            }
        }
    }
}

TEST_P(Matmul, APartOfThePanelsWritesThoseColumnsOnly) {
    const Case c({5, 37, 75});
    const EdgeArray<float> whole_s8 = c.s8(set(), {});
    const EdgeArray<float> whole_f32 = c.f32(set(), {});
    for (std::uint32_t first = 0; first <= c.panels(); ++first) {
        for (std::uint32_t last = first; last <= c.panels(); ++last) {
            Case::Options options;
            options.first_panel = first;
            options.last_panel = last;
            const EdgeArray<float> s8 = c.s8(set(), options);
            const EdgeArray<float> f32 = c.f32(set(), options);
            for (std::size_t i = 0; i < s8.size(); ++i) {
                const std::size_t column = i % c.stride;
                const bool inside = column >= first * 16 && column < last * 16 && column < c.size.n;
                ASSERT_TRUE(same_bits(s8[i], inside ? whole_s8[i] : kUntouched)) << i;
                ASSERT_TRUE(same_bits(f32[i], inside ? whole_f32[i] : kUntouched)) << i;
            }
        }
    }
}

// The largest sums that int16 and int32 steps must hold: all values +127 or -127 with every combination of signs.
TEST_P(Matmul, LargestMagnitudesDoNotSaturate) {
    for (const std::uint32_t k : {4u, 37u, 1536u, 65536u}) {
        for (const int a_sign : {-1, 1}) {
            for (const int w_sign : {-1, 1, 0}) {  // 0: alternating
                Case c({5, k, 20});
                for (float& x : c.x)
                    x = static_cast<float>(a_sign) * 2.5f;
                for (std::size_t i = 0; i < c.q_weights.size(); ++i) {
                    const int sign = w_sign != 0 ? w_sign : i % 2 == 0 ? 1 : -1;
                    c.q_weights[i] = static_cast<std::int8_t>(127 * sign);
                }
                Case::Options options;
                options.column_scales = false;
                options.bias = false;
                const EdgeArray<float> out = c.s8(set(), options);
                const std::int32_t product = 127 * 127 * a_sign;
                const float scale = 2.5f * (1.0f / 127.0f);
                for (std::uint32_t column = 0; column < 20; ++column) {
                    std::int32_t sum = 0;
                    for (std::uint32_t i = 0; i < k; ++i) {
                        sum += c.q_weights[column * k + i] > 0 ? product : -product;
                    }
                    ASSERT_TRUE(same_bits(out[column], static_cast<float>(sum) * scale)) << "k " << k;
                }
            }
        }
    }
}

// As probabilities are, which a set may multiply in another way; and with a single negative value, in any of the rows,
// which may be as small as -1.
TEST_P(Matmul, RowsWithoutNegativeValuesAsScalar) {
    const KernelSet& reference = scalar(Packing::panel);
    for (const Size& size : {Size{1, 40, 33}, Size{5, 37, 40}, Size{64, 20, 16}, Size{70, 33, 24}}) {
        SCOPED_TRACE(describe(size));
        Case c(size);
        for (float& x : c.x)
            x = std::fabs(x);
        ASSERT_TRUE(same_bits(c.s8(set(), {}), c.s8(reference, {})));
        for (const std::size_t row : {0u, size.rows / 2, size.rows - 1}) {
            const auto values = c.x.begin() + static_cast<std::ptrdiff_t>(row * size.k);
            float& last = *(values + size.k - 1);
            const float before = last;
            for (const float negative : {-before, -*std::max_element(values, values + size.k) / 127.0f}) {
                last = negative;
                ASSERT_TRUE(same_bits(c.s8(set(), {}), c.s8(reference, {}))) << row << " " << negative;
            }
            last = before;
        }
    }
}

TEST_P(Matmul, ZeroRowsGiveTheBias) {
    Case c({6, 37, 20});
    for (std::uint32_t k = 0; k < 37; ++k) {
        c.x[37 * 1 + k] = 0.0f;
        c.x[37 * 4 + k] = -0.0f;
    }
    const EdgeArray<float> out = c.s8(set(), {});
    for (std::uint32_t column = 0; column < 20; ++column) {
        EXPECT_TRUE(same_bits(out[c.stride * 1 + column], c.bias[column]));
        EXPECT_TRUE(same_bits(out[c.stride * 4 + column], c.bias[column]));
    }
}

}  // namespace
}  // namespace etch::testing
