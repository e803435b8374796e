// SPDX-License-Identifier: Apache-2.0
// Version and ABI of the runtime. Generated sources carry the ABI number that they were written for and refuse
// to compile against another one.
#pragma once

#define ETCH_VERSION "0.1.0"

// Raised with every change of table layout, of an interface that generated code uses, or of the arithmetic.
// The inline namespace abiN carries it into every symbol, so that two versions can be linked into one program.
#define ETCH_ABI 1
#define ETCH_ABI_NAMESPACE abi1

#if defined(__FAST_MATH__)
#error "etch: -ffast-math changes results; the arithmetic is defined bit for bit"
#endif

#include <cfloat>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "etch: tables are little-endian");
static_assert(FLT_EVAL_METHOD == 0, "etch: float expressions must be evaluated in float");
