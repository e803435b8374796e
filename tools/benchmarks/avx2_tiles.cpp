// SPDX-License-Identifier: Apache-2.0
#include "avx2_tiles.hpp"

namespace etch::bench {

#if defined(__x86_64__)

namespace {

// Zeros: the loops are about the operations, none of which depends on values.
alignas(64) constexpr char kOperands[128] = {};

}  // namespace

// clang-format off
// ymm0 to ymm5: sums of rows 0, 1 and 2, columns 0 to 7 and 8 to 15. ymm14: ones. ymm15: what shifts weights, or zero.
#define TURNS(name, body)                                                                                            \
    void name(std::uint64_t turns) {                                                                                 \
        asm volatile("vzeroall\n\t1:\n\t" body "dec %0\n\tjnz 1b\n\tvzeroupper"                                      \
                     : "+r"(turns) : "r"(kOperands), "m"(kOperands)                                                  \
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",\
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                                                 \
    }

#define LOAD(at, weights) "vmovdqu " at "(%1), %%ymm" weights "\n\t"
#define LOAD_SHIFTED(at, weights) "vpxor " at "(%1), %%ymm15, %%ymm" weights "\n\t"
#define BROADCAST(at, a) "vpbroadcastd " at "(%1), %%ymm" a "\n\t"
#define MULTIPLY(unsigned_bytes, signed_bytes, product)                                                              \
    "vpmaddubsw %%ymm" signed_bytes ", %%ymm" unsigned_bytes ", %%ymm" product "\n\t"
#define ADD_WORDS(addend, product) "vpaddw %%ymm" addend ", %%ymm" product ", %%ymm" product "\n\t"
#define ACCUMULATE(product, sum)                                                                                     \
    "vpmaddwd %%ymm14, %%ymm" product ", %%ymm" product "\n\t"                                                       \
    "vpaddd %%ymm" product ", %%ymm" sum ", %%ymm" sum "\n\t"

// Weights of k 0 to 3 in ymm6 and ymm7, of k 4 to 7 in ymm8 and ymm9.
#define PAIRED_ROW(at0, at1, low, high)                                                                              \
    BROADCAST(at0, "10") BROADCAST(at1, "11")                                                                        \
    MULTIPLY("6", "10", "12") MULTIPLY("8", "11", "13") ADD_WORDS("13", "12") ACCUMULATE("12", low)                  \
    MULTIPLY("7", "10", "10") MULTIPLY("9", "11", "11") ADD_WORDS("11", "10") ACCUMULATE("10", high)
TURNS(multiply_paired_tiles,
      LOAD_SHIFTED("0", "6") LOAD_SHIFTED("32", "7") LOAD_SHIFTED("64", "8") LOAD_SHIFTED("96", "9")
      PAIRED_ROW("0", "4", "0", "1") PAIRED_ROW("8", "12", "2", "3") PAIRED_ROW("16", "20", "4", "5"))

#define SINGLE_ROW(at, a, product, low, high)                                                                        \
    BROADCAST(at, a)                                                                                                 \
    MULTIPLY("6", a, product) ACCUMULATE(product, low)                                                               \
    MULTIPLY("7", a, a) ACCUMULATE(a, high)
TURNS(multiply_single_tiles,
      LOAD_SHIFTED("0", "6") LOAD_SHIFTED("32", "7")
      SINGLE_ROW("0", "8", "9", "0", "1") SINGLE_ROW("4", "10", "11", "2", "3") SINGLE_ROW("8", "12", "13", "4", "5"))

// The magnitudes of a take its place; ymm15 is zero.
#define SIGNED_ROW(at, a, signs, product, low, high)                                                                 \
    BROADCAST(at, a)                                                                                                 \
    "vpcmpgtb %%ymm" a ", %%ymm15, %%ymm" signs "\n\t"                                                               \
    "vpabsb %%ymm" a ", %%ymm" a "\n\t"                                                                              \
    "vpxor %%ymm6, %%ymm" signs ", %%ymm" product "\n\t"                                                             \
    "vpxor %%ymm7, %%ymm" signs ", %%ymm" signs "\n\t"                                                               \
    MULTIPLY(a, product, product) ACCUMULATE(product, low)                                                           \
    MULTIPLY(a, signs, signs) ACCUMULATE(signs, high)
TURNS(multiply_signed_tiles,
      LOAD("0", "6") LOAD("32", "7")
      SIGNED_ROW("0", "8", "9", "10", "0", "1") SIGNED_ROW("4", "11", "12", "13", "2", "3")
      SIGNED_ROW("8", "8", "9", "10", "4", "5"))
// clang-format on

#endif

}  // namespace etch::bench
