// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/attention.hpp"

#include "attend.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

template <class Cache>
void Attention<Cache>::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    attend(*this, NoBias{}, with, first, last);
}

template void AttentionS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void AttentionF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
