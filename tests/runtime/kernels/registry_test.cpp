// SPDX-License-Identifier: Apache-2.0
// Choosing kernel sets, and proof that a chosen set is the one that runs.
#include "etch/status.hpp"
#include "kernel_calls.hpp"
#include "support.hpp"

namespace etch::testing {
namespace {

TEST(Registry, ScalarExistsForBothPackings) {
    for (const Packing packing : {Packing::panel, Packing::rows}) {
        const KernelSet* set = nullptr;
        ASSERT_EQ(find_kernels(packing, "scalar", set), Status::ok);
        EXPECT_EQ(set->packing, packing);
        EXPECT_EQ(kernel_name(*set), "scalar");
    }
}

TEST(Registry, UnknownNamesAreErrorsAndLeaveTheResultAlone) {
    const KernelSet* set = nullptr;
    for (const char* name : {"", "AVX2", "avx", "avx22", "scalar ", "neon_of_another_build"}) {
        EXPECT_EQ(find_kernels(Packing::panel, name, set), Status::kernel_unknown) << name;
        EXPECT_EQ(set, nullptr);
    }
    EXPECT_EQ(find_kernels(Packing::rows, "avx2", set), Status::kernel_unknown);  // reads panels only
}

TEST(Registry, TheBestIsTheFirstUsableAndTheListEndsWithScalar) {
    for (const Packing packing : {Packing::panel, Packing::rows}) {
        std::size_t count = 0;
        while (!usable_kernel_name(packing, count).empty())
            ++count;
        ASSERT_GE(count, 1u);
        EXPECT_EQ(usable_kernel_name(packing, 0), kernel_name(*best_kernels(packing)));
        EXPECT_EQ(usable_kernel_name(packing, count - 1), "scalar");
        EXPECT_TRUE(usable_kernel_name(packing, count + 5).empty());
    }
}

TEST(Registry, EncodingsFitWhatArenasArePlannedFor) {
    for (const KernelSet* set : usable_sets()) {
        EXPECT_LE(set->encoded_bytes_per_value, max_encoded_bytes_per_value(set->packing)) << name_of(*set);
    }
}

TEST(Registry, Avx2IsChosenExactlyWhereTheCpuHasIt) {
#if defined(__x86_64__)
    const KernelSet* set = nullptr;
    const Status status = find_kernels(Packing::panel, "avx2", set);
    EXPECT_EQ(status == Status::ok, __builtin_cpu_supports("avx2") != 0);
    EXPECT_TRUE(status == Status::ok || status == Status::kernel_not_usable);
    if (status != Status::ok) GTEST_SKIP() << "this CPU has no AVX2: its kernels are not tested here";
#else
    GTEST_SKIP() << "not an x86 build";
#endif
}

TEST(Registry, Avx512VnniIsChosenExactlyWhereTheCpuHasIt) {
#if defined(__x86_64__)
    const KernelSet* set = nullptr;
    const Status status = find_kernels(Packing::panel, "avx512_vnni", set);
    const bool has = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                     __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                     __builtin_cpu_supports("avx512vnni") != 0;
    EXPECT_EQ(status, has ? Status::ok : Status::kernel_not_usable);
    if (!has) GTEST_SKIP() << "this CPU has no AVX-512 VNNI: its kernels are not tested here";
    EXPECT_EQ(best_kernels(Packing::panel), set);
#else
    GTEST_SKIP() << "not an x86 build";
#endif
}

TEST(Registry, EveryStatusHasItsOwnText) {
    std::vector<std::string> texts;
    for (int i = 0; i <= static_cast<int>(Status::golden_mismatch); ++i) {
        const std::string text = describe(static_cast<Status>(i));
        EXPECT_FALSE(text.empty());
        EXPECT_NE(text, "unknown status");
        for (const std::string& other : texts)
            EXPECT_NE(text, other);
        texts.push_back(text);
    }
    EXPECT_STREQ(describe(static_cast<Status>(250)), "unknown status");
}

#if defined(ETCH_COUNT_KERNEL_CALLS)
CountedSet counted(const KernelSet& set) {
    if (kernel_name(set) == "avx512_vnni") return kCountAvx512Vnni;
    return kernel_name(set) == "avx2" ? kCountAvx2 : kCountScalar;
}

class CalledKernels : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, CalledKernels, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(CalledKernels, AreThoseOfTheChosenSet) {
    reset_kernel_calls();
    std::vector<float> x = Random().floats(16);
    const std::vector<float> y = Random().floats(16, 0.1f, 1.0f);
    alignas(16) std::uint8_t encoded[32];
    std::int8_t q[16];
    const EdgeArray<std::int8_t> weights = pack(set().packing, Random().s8s(256), 16, 16);
    const EdgeArray<float> f32_weights = pack(set().packing, Random().floats(256), 16, 16);
    float scale = set().quantize_row(x.data(), 16, encoded);
    float out[16];
    set().matmul_s8(
        {{encoded, &scale, 32}, weights.data(), nullptr, nullptr, nullptr, out, 16, 1, 16, 16, Activation::gelu}, 0, 1);
    set().matmul_f32(
        {x.data(), 16, f32_weights.data(), nullptr, nullptr, nullptr, out, 16, 1, 16, 16, Activation::gelu}, 0, 1);
    set().quantize_row_s8(x.data(), 16, q);
    set().layer_norm_row(x.data(), 16, y.data(), y.data(), 1e-5f, 0.0625f);
    set().exp2_row(x.data(), 16);
    set().quantize_probabilities(x.data(), y.data(), 16, encoded);
    set().activate_row(Activation::relu, x.data(), 16);
    for (unsigned other = 0; other < kCountedSets; ++other) {
        for (unsigned function = 0; function < kCountedFunctions; ++function) {
            EXPECT_EQ(kernel_calls[other][function], other == counted(set()) ? 1u : 0u) << other << " " << function;
        }
    }
}
#endif

}  // namespace
}  // namespace etch::testing
