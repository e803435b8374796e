// SPDX-License-Identifier: Apache-2.0
// Attention with a mask, a bias by relative position, or both. In a file of its own: a program whose models have none
// does not link it.
#include "added_bias.hpp"
#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

template <class Cache>
void BiasedAttention<Cache>::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    attend(attention, AddedBias(bias), with, first, last);
}

template void BiasedAttentionS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void BiasedAttentionF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
