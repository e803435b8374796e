// SPDX-License-Identifier: Apache-2.0
// The kernel sets of this build that read Packing::rows, best first.
#include "etch/kernels.hpp"
#include "sets.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr const KernelSet* kSets[] = {
#if defined(ETCH_HAS_MVE)
    &kMve,
#endif
#if defined(ETCH_HAS_DSP)
    &kDsp,
#endif
#if defined(ETCH_HAS_PLAIN)
    &kPlain,
#endif
    &kScalarRows,
};

}  // namespace

constexpr KernelList kRowsKernels = {kSets, sizeof kSets / sizeof kSets[0]};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
