// SPDX-License-Identifier: Apache-2.0
// Choosing kernel sets, and proof that a chosen set is the one that runs.
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__riscv)
#include <sys/auxv.h>
#endif

#include "etch/status.hpp"
#include "kernel_calls.hpp"
#include "support.hpp"

namespace etch::testing {
namespace {

const KernelList* const kLists[] = {&kPanelKernels, &kRowsKernels};

TEST(Registry, ScalarExistsForBothPackings) {
    for (const KernelList* list : kLists) {
        const KernelSet* set = nullptr;
        ASSERT_EQ(find_kernels(*list, "scalar", set), Status::ok);
        EXPECT_EQ(set->packing, list == &kRowsKernels ? Packing::rows : Packing::panel);
        EXPECT_EQ(kernel_name(*set), "scalar");
    }
}

TEST(Registry, UnknownNamesAreErrorsAndLeaveTheResultAlone) {
    const KernelSet* set = nullptr;
    for (const char* name : {"", "AVX2", "avx", "avx22", "scalar ", "neon_of_another_build"}) {
        EXPECT_EQ(find_kernels(kPanelKernels, name, set), Status::kernel_unknown) << name;
        EXPECT_EQ(set, nullptr);
    }
    EXPECT_EQ(find_kernels(kRowsKernels, "avx2", set), Status::kernel_unknown);  // reads panels only
}

TEST(Registry, TheBestIsTheFirstUsableAndTheListEndsWithScalar) {
    for (const KernelList* list : kLists) {
        std::size_t count = 0;
        while (!usable_kernel_name(*list, count).empty())
            ++count;
        ASSERT_GE(count, 1u);
        EXPECT_EQ(usable_kernel_name(*list, 0), kernel_name(*best_kernels(*list)));
        EXPECT_EQ(usable_kernel_name(*list, count - 1), "scalar");
        EXPECT_TRUE(usable_kernel_name(*list, count + 5).empty());
    }
}

TEST(Registry, EncodingsFitWhatArenasArePlannedFor) {
    for (const KernelSet* set : usable_sets()) {
        EXPECT_LE(set->encoded_row_bytes_per_value, max_encoded_row_bytes_per_value(set->packing)) << name_of(*set);
    }
}

TEST(Registry, RowsOfABlockAreAllOrAsManyAsASetWants) {
    KernelSet set = *best_kernels(kPanelKernels);
    set.block_rows = 0;
    EXPECT_EQ(block_rows(set, 221, 224), 224u);
    set.block_rows = 80;
    EXPECT_EQ(block_rows(set, 0, 224), 80u);
    EXPECT_EQ(block_rows(set, 80, 224), 80u);
    EXPECT_EQ(block_rows(set, 80, 80), 80u);
    EXPECT_EQ(block_rows(set, 9, 5), 5u);
}

TEST(Registry, BlocksHaveNearlyTheSameRows) {
    KernelSet set = *best_kernels(kPanelKernels);
    set.block_rows = 80;
    EXPECT_EQ(block_rows(set, 81, 224), 48u);   // and 33
    EXPECT_EQ(block_rows(set, 128, 224), 64u);  // twice
    EXPECT_EQ(block_rows(set, 221, 224), 80u);  // and 80, 61
    set.block_rows = 0;
    EXPECT_EQ(block_rows(set, 225, 224), 128u);
    EXPECT_EQ(block_rows(set, 512, 224), 176u);
    for (std::uint32_t rows = 1; rows < 600; ++rows) {
        const std::uint32_t block = block_rows(set, rows, 71);
        ASSERT_LE(block, 71u);
        ASSERT_EQ((rows + block - 1) / block, (rows + 70) / 71) << rows;  // and no more blocks
    }
}

// A vector set of this build, and whether the CPU has what it needs, asked in another way than the runtime does.
struct Expected {
    const char* name;
    bool usable;
};

#if defined(__x86_64__)
bool has_avx_vnni() {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & 1u << 4) != 0;
}

// Whether Linux gives this process the registers is asked of the C library's function here.
bool has_amx_int8() {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    constexpr unsigned kTileAndInt8 = 1u << 24 | 1u << 25;
    constexpr long kRequestPermission = 0x1023;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kTileAndInt8) == kTileAndInt8 &&
           syscall(SYS_arch_prctl, kRequestPermission, 18) == 0;
}

std::vector<Expected> expected_sets() {
    const bool avx2 = __builtin_cpu_supports("avx2") != 0;
    const bool avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                        __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    const bool avx512_vnni = avx512 && __builtin_cpu_supports("avx512vnni") != 0;
    return {{"amx_int8", avx512_vnni && has_amx_int8()},
            {"avx512_vnni", avx512_vnni},
            {"avx_vnni", avx2 && has_avx_vnni()},
            {"avx2", avx2},
            {"sse2", true}};
}
#elif defined(__aarch64__)
std::vector<Expected> expected_sets() {
    constexpr unsigned long kI8mm = 1u << 13;  // HWCAP2_I8MM, which older headers have not
    const bool dotprod = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
    return {{"neon_i8mm", dotprod && (getauxval(AT_HWCAP2) & kI8mm) != 0}, {"neon_dotprod", dotprod}, {"neon", true}};
}
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__clang__) && __clang_major__ >= 19
std::vector<Expected> expected_sets() {
    return {{"rvv", (getauxval(AT_HWCAP) >> ('V' - 'A') & 1) != 0}};
}
#else
std::vector<Expected> expected_sets() {
    return {};
}
#endif

TEST(Registry, VectorSetsAreChosenExactlyWhereTheCpuHasTheirInstructions) {
    std::vector<std::string> usable;
    std::string missing;
    for (const Expected& expected : expected_sets()) {
        const KernelSet* set = nullptr;
        EXPECT_EQ(find_kernels(kPanelKernels, expected.name, set),
                  expected.usable ? Status::ok : Status::kernel_not_usable)
            << expected.name;
        if (expected.usable) {
            usable.emplace_back(expected.name);
        } else {
            missing += std::string(" ") + expected.name;
        }
    }
    usable.emplace_back("scalar");
    for (std::size_t i = 0; i < usable.size(); ++i)
        EXPECT_EQ(usable_kernel_name(kPanelKernels, i), usable[i]);
    EXPECT_TRUE(usable_kernel_name(kPanelKernels, usable.size()).empty());
    if (!missing.empty()) GTEST_SKIP() << "not tested on this CPU, or only emulated:" << missing;
}

TEST(Registry, RowsAreReadByPlainAndScalar) {
    EXPECT_EQ(usable_kernel_name(kRowsKernels, 0), "plain");
    EXPECT_EQ(usable_kernel_name(kRowsKernels, 1), "scalar");
    EXPECT_TRUE(usable_kernel_name(kRowsKernels, 2).empty());
    const KernelSet* set = nullptr;
    EXPECT_EQ(find_kernels(kPanelKernels, "plain", set), Status::kernel_unknown);
}

TEST(Registry, EveryStatusHasItsOwnText) {
    std::vector<std::string> texts;
    constexpr int kLast = static_cast<int>(Status::tables_not_copied);
    for (int i = 0; i <= kLast; ++i) {
        const std::string text = describe(static_cast<Status>(i));
        EXPECT_FALSE(text.empty());
        EXPECT_NE(text, "unknown status");
        for (const std::string& other : texts)
            EXPECT_NE(text, other);
        texts.push_back(text);
    }
    EXPECT_STREQ(describe(static_cast<Status>(kLast + 1)), "unknown status");
}

#if defined(ETCH_COUNT_KERNEL_CALLS)
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
    set().layer_norm_row(x.data(), out, 16, y.data(), y.data(), 1e-5f, 0.0625f);
    set().rms_norm_row(x.data(), out, 16, y.data(), 1e-5f, 0.0625f);
    set().exp2_sum(x.data(), 16, 1.0f, set().largest_value(x.data(), 16));
    set().exp2_row(x.data(), 16);
    set().quantize_probabilities(x.data(), y.data(), 16, encoded);
    set().activate_row(Activation::relu, x.data(), 16);
    const S4Table s4(set().packing, 16, 16);
    alignas(64) std::int8_t expanded[256];
    set().expand_s4(s4.q.data(), s4.factors.data(), 16, 16, expanded);
    const bool multiplies_s4 = set().matmul_s4 != nullptr;
    if (multiplies_s4) {
        set().matmul_s4(
            {{encoded, &scale, 32}, s4.q.data(), nullptr, nullptr, nullptr, out, 16, 1, 16, 16, Activation::gelu},
            s4.factors.data(), 0, 1);
    }
    const bool multiplies_s7 = set().matmul_s7 != nullptr;
    if (multiplies_s7) {
        const EdgeArray<std::int8_t> narrow = pack(set().packing, Random().s7s(256), 16, 16);
        set().matmul_s7(
            {{encoded, &scale, 32}, narrow.data(), nullptr, nullptr, nullptr, out, 16, 1, 16, 16, Activation::gelu}, 0,
            1);
    }
    for (unsigned other = 0; other < kCountedSets; ++other) {
        for (unsigned function = 0; function < kCountedFunctions; ++function) {
            const CountedSet by = counted(set(), static_cast<CountedFunction>(function));
            const std::uint64_t calls = function == kCountMatmulS8 && multiplies_s4    ? 2
                                        : function == kCountMatmulS7 && !multiplies_s7 ? 0
                                                                                       : 1;
            EXPECT_EQ(kernel_calls[other][function], other == by ? calls : 0) << other << " " << function;
        }
    }
}
#endif

}  // namespace
}  // namespace etch::testing
