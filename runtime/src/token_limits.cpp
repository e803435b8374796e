// SPDX-License-Identifier: Apache-2.0
#include "etch/token_limits.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

Status check_tokens(const std::int32_t* ids, const std::uint8_t* segments, std::uint32_t count,
                    const TokenLimits& limits) noexcept {
    if (count == 0) return Status::no_tokens;
    if (count > limits.max_tokens) return Status::too_many_tokens;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (ids[i] < 0 || static_cast<std::uint32_t>(ids[i]) >= limits.vocabulary) return Status::token_out_of_range;
        if (segments != nullptr && segments[i] >= limits.segments) return Status::segment_out_of_range;
    }
    return Status::ok;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
