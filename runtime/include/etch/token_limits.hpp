// SPDX-License-Identifier: Apache-2.0
// Token ids from outside.
#pragma once

#include <cstdint>

#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct TokenLimits {
    std::uint32_t max_tokens;
    std::uint32_t vocabulary;
    std::uint32_t segments;
};

// Checks token ids before the first op reads them: 1 to max_tokens ids in [0, vocabulary), segments (null: all 0) in
// [0, limits.segments).
Status check_tokens(const std::int32_t* ids, const std::uint8_t* segments, std::uint32_t count,
                    const TokenLimits& limits) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
