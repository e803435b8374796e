// SPDX-License-Identifier: Apache-2.0
// What the kernels ask of the compiler beyond the language.
#pragma once

// GCC unrolls loops over registers at -O2 only when told to; left rolled, the arrays would live in memory.
#if defined(__clang__)
#define ETCH_UNROLL _Pragma("unroll")
#define ETCH_UNROLL_BY_4 _Pragma("unroll 4")
#else
#define ETCH_UNROLL _Pragma("GCC unroll 16")
#define ETCH_UNROLL_BY_4 _Pragma("GCC unroll 4")
#endif

// Functions on registers: a call would pass them through memory.
#define ETCH_INLINE inline __attribute__((always_inline))

// The same for lambdas: [..](..) ETCH_INLINE_BODY { .. }
#define ETCH_INLINE_BODY __attribute__((always_inline))

// Tiles: inlined into their one caller, all of their frames would be on the stack at once.
#define ETCH_NOINLINE __attribute__((noinline))

// Keeps a vector where it is. GCC 12 otherwise keeps the sums of a tile elsewhere than the conversion to float after
// the loop wants them, and moves or spills them on every turn of the loop. `constraint` names the register file.
#if defined(ETCH_EMULATED_INTRINSICS)
#define ETCH_KEEP_IN_REGISTER(constraint, vector) static_cast<void>(vector)
#else
#define ETCH_KEEP_IN_REGISTER(constraint, vector) asm("" : "+" constraint(vector))
#endif
