// SPDX-License-Identifier: Apache-2.0
// ETCH_PRINTF_FORMAT: whose printf() a function's format is for, as __attribute__((format(...))) wants to hear it.
// MinGW-w64 has two, of which CMakeLists.txt chooses that of C99.
#pragma once

#include <cstdio>

#if defined(__MINGW_PRINTF_FORMAT)
#define ETCH_PRINTF_FORMAT __MINGW_PRINTF_FORMAT
#else
#define ETCH_PRINTF_FORMAT printf
#endif
