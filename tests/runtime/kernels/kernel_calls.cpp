// SPDX-License-Identifier: Apache-2.0
#include "kernel_calls.hpp"

#include <stdexcept>

#if defined(ETCH_COUNT_KERNEL_CALLS)
namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
std::uint64_t kernel_calls[kCountedSets][kCountedFunctions];
}  // namespace ETCH_ABI_NAMESPACE

namespace testing {
void reset_kernel_calls() {
    for (auto& set : kernel_calls) {
        for (std::uint64_t& calls : set)
            calls = 0;
    }
}

CountedSet counted(std::string_view name) {
    struct Named {
        std::string_view name;
        CountedSet set;
    };
    constexpr Named kNamed[] = {
        {"scalar", kCountScalar},
        {"sse2", kCountSse2},
        {"avx2", kCountAvx2},
        {"avx_vnni", kCountAvxVnni},
        {"avx512_vnni", kCountAvx512Vnni},
        {"amx_int8", kCountAmxInt8},
        {"neon", kCountNeon},
        {"neon_dotprod", kCountNeonDotprod},
        {"neon_i8mm", kCountNeonI8mm},
        {"wasm_simd", kCountWasmSimd},
        {"rvv", kCountRvv},
        {"plain", kCountPlain},
        {"dsp", kCountDsp},
        {"mve", kCountMve},
    };
    for (const Named& named : kNamed) {
        if (named.name == name) return named.set;
    }
    throw std::invalid_argument("a kernel set without counters");
}

namespace {
bool is_of_bytes(CountedFunction function) {
    return function == kCountMatmulS8 || function == kCountMatmulS7 || function == kCountQuantizeRow ||
           function == kCountQuantizeProbabilities;
}
}  // namespace

CountedSet counted(std::string_view name, CountedFunction function) {
    const bool own = is_of_bytes(function);
    if (!own && name == "avx_vnni") return kCountAvx2;
    if (!own && name == "amx_int8") return kCountAvx512Vnni;
    if (!own && name == "neon_i8mm") return kCountNeon;
    return counted(name);
}

CountedSet counted(const KernelSet& set, CountedFunction function) {
    return counted(set.name, function);
}
}  // namespace testing
}  // namespace etch
#endif
