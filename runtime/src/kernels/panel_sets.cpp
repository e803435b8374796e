// SPDX-License-Identifier: Apache-2.0
// The kernel sets of this build that read Packing::panel, best first. Sets of one name are one to who asks, and
// neighbours: the first that is usable is meant.
#include "etch/kernels.hpp"
#include "sets.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr const KernelSet* kSets[] = {
#if defined(__x86_64__)
    &kAmxInt8,     &kAvx512VnniHalved, &kAvx512Vnni, &kAvxVnni, &kAvx2, &kSse2,
#elif defined(__aarch64__)
    &kNeonI8mm,
    &kNeonDotprod,
    &kNeon,
#elif defined(__wasm_simd128__)
    &kWasmSimd,
#elif defined(ETCH_HAS_RVV)
    &kRvv,
#endif
    &kScalarPanel,
};

}  // namespace

constexpr KernelList kPanelKernels = {kSets, sizeof kSets / sizeof kSets[0]};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
