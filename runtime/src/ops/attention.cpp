// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/attention.hpp"

#include "attend.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

void AttentionS8::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    attend(*this, NoBias{}, with, first, last);
}

void AttentionF32::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    attend(*this, NoBias{}, with, first, last);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
