// SPDX-License-Identifier: Apache-2.0
// The list of panel_sets.inl for weights of 8 bits.
#include "etch/kernels.hpp"
#include "sets.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

#if defined(__x86_64__)
constexpr const KernelSet& kOfAvx2 = kAvx2;
#endif
#include "panel_sets.inl"

}  // namespace

constexpr KernelList kPanelKernels = {kSets, sizeof kSets / sizeof kSets[0]};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
