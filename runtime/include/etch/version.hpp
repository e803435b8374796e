// SPDX-License-Identifier: Apache-2.0
// Version and ABI of the runtime in C++, and what it demands of every compiler.
#pragma once

#include "etch/version.h"

// The inline namespace abiN carries the ABI number into every symbol, so that two versions can be linked into one
// program.
#define ETCH_ABI_NAMESPACE_OF(number) abi##number
#define ETCH_ABI_NAMESPACE_OF_VALUE(macro) ETCH_ABI_NAMESPACE_OF(macro)
#define ETCH_ABI_NAMESPACE ETCH_ABI_NAMESPACE_OF_VALUE(ETCH_ABI)

// __FINITE_MATH_ONLY__ is 0 or 1: where nothing is infinite or NaN, comparisons become others. Of the other parts of
// -ffast-math only GCC defines macros; for clang the flags of etch's builds take them back.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "etch: -ffast-math and its parts change results; the arithmetic is defined bit for bit"
#endif

#include <cfloat>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "etch: tables are little-endian");
static_assert(FLT_EVAL_METHOD == 0, "etch: float expressions must be evaluated in float");
