// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <utility>

#include "avx2_tiles.hpp"
#include "median.hpp"

namespace etch::bench {
namespace {

struct Limit {
    std::string_view set;
    Operands operands;
    std::string_view counted;  // the operations of each sum's part of a turn
    unsigned macs;             // of one turn
    void (*turns)(std::uint64_t count);
};

#if defined(__x86_64__)

#define CLOBBERED                                                                                                    \
    "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
        "xmm13", "xmm14", "xmm15"

// clang-format off
// ONE(sum, product) is one turn's work for one of 10 sums; products are in 3 registers in turn. A sum is used again
// after all others, which is longer than its latency.
#define TIMES_10(ONE)                                                             \
    ONE("0", "10") ONE("1", "11") ONE("2", "12") ONE("3", "10") ONE("4", "11")    \
    ONE("5", "12") ONE("6", "10") ONE("7", "11") ONE("8", "12") ONE("9", "10")

// Zeros first: what lies in the registers might be numbers that the CPU is slow with.
#define TURNS(name, before, ONE, after)                                                                           \
    void name(std::uint64_t count) {                                                                              \
        asm volatile(before "1:\n\t" TIMES_10(ONE) "dec %0\n\tjnz 1b\n\t" after : "+r"(count) : : CLOBBERED);     \
    }
#define ZERO_SSE(n, unused) "pxor %%xmm" n ", %%xmm" n "\n\t"
#define BEFORE_SSE TIMES_10(ZERO_SSE) ZERO_SSE("14", "") ZERO_SSE("15", "")
#define TURNS_SSE(name, ONE) TURNS(name, BEFORE_SSE, ONE, "")
#define TURNS_AVX(name, ONE) TURNS(name, "vzeroall\n\t", ONE, "vzeroupper")

#define VPDPBUSD_ZMM(sum, unused) "vpdpbusd %%zmm14, %%zmm15, %%zmm" sum "\n\t"
TURNS_AVX(vpdpbusd_zmm, VPDPBUSD_ZMM)

#define VPDPBUSD_YMM(sum, unused) "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" sum "\n\t"
TURNS_AVX(vpdpbusd_ymm, VPDPBUSD_YMM)

// Two sums at least are under way; eight registers of zeros, four of them sums.
#define TDPBSSD(sum, unused) "tdpbssd %%tmm7, %%tmm6, %%tmm" sum "\n\t"
void tdpbssd(std::uint64_t count) {
    struct alignas(64) {
        std::uint8_t palette = 1;
        std::uint8_t reserved[15] = {};
        std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
        std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const shapes;
    asm volatile("ldtilecfg %1\n\t"
                 "1:\n\t" TDPBSSD("0", "") TDPBSSD("1", "") TDPBSSD("2", "") TDPBSSD("3", "")
                 "dec %0\n\tjnz 1b\n\ttilerelease" : "+r"(count) : "m"(shapes) : "cc");
}

#define MADD_S16(sum, product)                                       \
    "vpmaddwd %%ymm14, %%ymm15, %%ymm" product "\n\t"                \
    "vpaddd %%ymm" product ", %%ymm" sum ", %%ymm" sum "\n\t"
TURNS_AVX(madd_ymm, MADD_S16)

#define MADD(sum, product)                           \
    "movdqa %%xmm15, %%xmm" product "\n\t"           \
    "pmaddwd %%xmm14, %%xmm" product "\n\t"          \
    "paddd %%xmm" product ", %%xmm" sum "\n\t"
TURNS_SSE(madd_xmm, MADD)

#define MUL_ADD(sum, product, kind)                                             \
    "vmulps %%" kind "14, %%" kind "15, %%" kind product "\n\t"                 \
    "vaddps %%" kind product ", %%" kind sum ", %%" kind sum "\n\t"
#define MUL_ADD_ZMM(sum, product) MUL_ADD(sum, product, "zmm")
#define MUL_ADD_YMM(sum, product) MUL_ADD(sum, product, "ymm")
TURNS_AVX(mul_add_zmm, MUL_ADD_ZMM)
TURNS_AVX(mul_add_ymm, MUL_ADD_YMM)

#define MUL_ADD_SSE(sum, product)                    \
    "movaps %%xmm15, %%xmm" product "\n\t"           \
    "mulps %%xmm14, %%xmm" product "\n\t"            \
    "addps %%xmm" product ", %%xmm" sum "\n\t"
TURNS_SSE(mul_add_xmm, MUL_ADD_SSE)
// clang-format on

constexpr std::string_view kPairedOperations =
    "2 vpmaddubsw, vpaddw, vpmaddwd, vpaddd; for 6 of them 4 vpxor and 6 vpbroadcastd of memory";
constexpr std::string_view kSingleOperations =
    "vpmaddubsw, vpmaddwd, vpaddd; for 6 of them 2 vpxor and 3 vpbroadcastd of memory";
constexpr std::string_view kSignedOperations =
    "vpxor, vpmaddubsw, vpmaddwd, vpaddd; for 6 of them 2 loads, 3 vpbroadcastd, vpcmpgtb and vpabsb";

constexpr Limit kLimits[] = {
    {"amx_int8", Operands::s8, "tdpbssd", 4 * 16 * 16 * 64, tdpbssd},
    {"amx_int8", Operands::f32, "vmulps, vaddps of 512 bits", 10 * 16, mul_add_zmm},
    {"avx512_vnni", Operands::s8, "vpdpbusd of 512 bits", 10 * 64, vpdpbusd_zmm},
    {"avx512_vnni", Operands::f32, "vmulps, vaddps of 512 bits", 10 * 16, mul_add_zmm},
    {"avx_vnni", Operands::s8, "vpdpbusd of 256 bits", 10 * 32, vpdpbusd_ymm},
    {"avx_vnni", Operands::f32, "vmulps, vaddps of 256 bits", 10 * 8, mul_add_ymm},
    {"avx2", Operands::s8, kPairedOperations, kPairedTileMacs, multiply_paired_tiles},
    {"avx2", Operands::s8_single, kSingleOperations, kSingleTileMacs, multiply_single_tiles},
    {"avx2", Operands::s8_signed, kSignedOperations, kSignedTileMacs, multiply_signed_tiles},
    {"avx2", Operands::f32, "vmulps, vaddps of 256 bits", 10 * 8, mul_add_ymm},
    {"avx2", Operands::s16, "vpmaddwd, vpaddd of 256 bits", 10 * 16, madd_ymm},
    {"avx2", Operands::s7, kPairedOperations, kPairedTileMacs, multiply_paired_tiles},
    {"sse2", Operands::s8, "movdqa, pmaddwd, paddd", 10 * 8, madd_xmm},
    {"sse2", Operands::f32, "movaps, mulps, addps", 10 * 4, mul_add_xmm},
};

#else

constexpr Limit kLimits[] = {{"", Operands::s8, "", 0, nullptr}};

#endif

#if defined(__x86_64__)

constexpr bool kReadsLines = true;

// One load of each line: with 16 bytes of it as fast as with all 64, measured on Zen 4, and any processor has them.
void read_lines(const void* data, std::size_t bytes) {
    const char* line = static_cast<const char*>(data);
    const char* const end = line + bytes / 256 * 256;
    while (line < end) {
        asm volatile(
            "movups (%0), %%xmm0\n\tmovups 64(%0), %%xmm1\n\t"
            "movups 128(%0), %%xmm2\n\tmovups 192(%0), %%xmm3\n\tadd $256, %0"
            : "+r"(line)
            :
            : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3");
    }
}

#else

constexpr bool kReadsLines = false;
void read_lines(const void*, std::size_t) {}

#endif

// Null: none is written down.
const Limit* limit_of(std::string_view kernel_set, Operands operands) {
    const Limit* limit = std::find_if(std::begin(kLimits), std::end(kLimits),
                                      [&](const Limit& l) { return l.set == kernel_set && l.operands == operands; });
    return limit == std::end(kLimits) ? nullptr : limit;
}

double measured_rate(const Limit& limit) {
    constexpr std::uint64_t kTurns = 50'000;
    std::array<double, 21> rates;
    for (double& rate : rates) {
        const auto begin = std::chrono::steady_clock::now();
        limit.turns(kTurns);
        const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
        rate = static_cast<double>(limit.macs) * kTurns / time.count();
    }
    return median(rates);
}

}  // namespace

std::string_view counted_operations(std::string_view kernel_set, Operands operands) {
    const Limit* const limit = limit_of(kernel_set, operands);
    return limit == nullptr ? std::string_view() : limit->counted;
}

double measured_limit(std::string_view kernel_set, Operands operands, const Mix& mix) {
    if (limit_of(kernel_set, operands) == nullptr) return 0;
    double time = 0;
    for (const auto& [part, sequence] : {std::pair{mix.usual, operands}, std::pair{mix.single, Operands::s8_single},
                                         std::pair{mix.with_signs, Operands::s8_signed}}) {
        if (part > 0) time += part / measured_rate(*limit_of(kernel_set, sequence));
    }
    return 1 / time;
}

double measured_bandwidth(const void* data, std::size_t bytes) {
    const Bytes all{data, bytes};
    return measured_bandwidth(&all, 1);
}

double measured_bandwidth(const Bytes* parts, std::size_t count) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i)
        bytes += parts[i].count;
    if (!kReadsLines || bytes < 256) return 0;
    constexpr std::size_t kBytesOfARun = 32u << 20;
    const std::size_t times = bytes < kBytesOfARun ? kBytesOfARun / bytes : 1;
    std::array<double, 11> rates;
    for (double& rate : rates) {
        const auto begin = std::chrono::steady_clock::now();
        for (std::size_t turn = 0; turn < times; ++turn) {
            for (std::size_t i = 0; i < count; ++i)
                read_lines(parts[i].data, parts[i].count);
        }
        const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
        rate = static_cast<double>(bytes) * static_cast<double>(times) / time.count();
    }
    return median(rates);
}

void count_reads(benchmark::State& state, const void* data, std::size_t bytes, double before) {
    const auto rate = benchmark::Counter::kIsIterationInvariantRate;
    const double read = static_cast<double>(bytes);
    state.counters["GB/s"] = benchmark::Counter(read * 1e-9, rate);
    if (before == 0) return;
    const double bandwidth = (before + measured_bandwidth(data, bytes)) / 2;
    state.counters["% of bandwidth"] = benchmark::Counter(read * 1e-7 / bandwidth, rate);
}

void count_macs(benchmark::State& state, double macs, std::string_view kernel_set, Operands operands, double before,
                const Mix& mix) {
    const auto rate = benchmark::Counter::kIsIterationInvariantRate;
    state.counters["GMAC/s"] = benchmark::Counter(macs * 1e-9, rate);
    if (before == 0) return;
    const double limit = (before + measured_limit(kernel_set, operands, mix)) / 2;
    state.counters["% of limit"] = benchmark::Counter(macs * 1e-7 / limit, rate);
    state.counters["limit GMAC/s"] = limit;
}

}  // namespace etch::bench
