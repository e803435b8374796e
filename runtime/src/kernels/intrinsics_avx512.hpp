// SPDX-License-Identifier: Apache-2.0
// <immintrin.h> for sets of AVX-512, without what GCC 12's own header makes GCC 12 warn of: it means "any value" by a
// variable that is initialized by itself.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
