// SPDX-License-Identifier: Apache-2.0
// Version and ABI of the runtime in C++, and what it demands of every compiler.
#pragma once

#include "etch/version.h"

// The inline namespace abiN carries the ABI number into every symbol, so that two versions can be linked into one
// program.
#define ETCH_ABI_NAMESPACE_OF(number) abi##number
#define ETCH_ABI_NAMESPACE_OF_VALUE(macro) ETCH_ABI_NAMESPACE_OF(macro)
#define ETCH_ABI_NAMESPACE ETCH_ABI_NAMESPACE_OF_VALUE(ETCH_ABI)

#if defined(__FAST_MATH__)
#error "etch: -ffast-math changes results; the arithmetic is defined bit for bit"
#endif

#include <cfloat>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "etch: tables are little-endian");
static_assert(FLT_EVAL_METHOD == 0, "etch: float expressions must be evaluated in float");
