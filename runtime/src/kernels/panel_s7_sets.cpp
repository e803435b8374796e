// SPDX-License-Identifier: Apache-2.0
// The list of panel_sets.inl for weights of 7 bits. A file of its own: who takes one list links nothing of the other.
#include "etch/kernels.hpp"
#include "sets.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

#if defined(__x86_64__)
constexpr const KernelSet& kOfAvx2 = kAvx2S7;
#endif
#include "panel_sets.inl"

}  // namespace

constexpr KernelList kPanelS7Kernels = {kSets, sizeof kSets / sizeof kSets[0]};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
