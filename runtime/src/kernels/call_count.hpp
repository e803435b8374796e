// SPDX-License-Identifier: Apache-2.0
// Counts kernel calls in test builds, so that a test can assert which kernels really ran. Without
// ETCH_COUNT_KERNEL_CALLS nothing is compiled.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

enum CountedSet : unsigned {
    kCountScalar,
    kCountSse2,
    kCountAvx2,
    kCountAvxVnni,
    kCountAvx512Vnni,
    kCountAmxInt8,
    kCountNeon,
    kCountNeonDotprod,
    kCountNeonI8mm,
    kCountWasmSimd,
    kCountRvv,
    kCountPlain,
    kCountDsp,
    kCountMve,
    kCountedSets
};

enum CountedFunction : unsigned {
    kCountMatmulS8,
    kCountMatmulF32,
    kCountQuantizeRow,
    kCountQuantizeRowS8,
    kCountLayerNormRow,
    kCountRmsNormRow,
    kCountExp2Row,
    kCountExp2Sum,
    kCountLargestValue,
    kCountQuantizeProbabilities,
    kCountActivateRow,
    kCountExpandS4,
    kCountMatmulS7,
    kCountedFunctions
};

#if defined(ETCH_COUNT_KERNEL_CALLS)
// Defined by the test program.
extern std::uint64_t kernel_calls[kCountedSets][kCountedFunctions];
#define ETCH_COUNT_KERNEL_CALL(set, function) \
    static_cast<void>(__atomic_fetch_add(&kernel_calls[set][function], 1u, __ATOMIC_RELAXED))
#else
#define ETCH_COUNT_KERNEL_CALL(set, function) static_cast<void>(set)
#endif

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
