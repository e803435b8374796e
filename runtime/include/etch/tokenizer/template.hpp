// SPDX-License-Identifier: Apache-2.0
// The special tokens around one text and around two, and behind them.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct TemplatePart {
    static constexpr std::int32_t kFirst = -1;   // the tokens of the first text stand here,
    static constexpr std::int32_t kSecond = -2;  // those of the second one here

    std::int32_t id;       // of a special token, or one of these
    std::uint8_t segment;  // of all these tokens
};

// The first text is in both, the second one in `pair`, behind it; each once.
struct Template {
    static constexpr std::uint32_t kMostParts = 8;

    std::uint32_t single_count;
    std::uint32_t pair_count;
    TemplatePart single[kMostParts];
    TemplatePart pair[kMostParts];
    bool cuts_first = false;   // of a pair that does not fit, the first text only; else both, the longer one first
    std::uint32_t padded = 0;  // tokens that all inputs are padded to, for a model that reads the padding as any other
    std::int32_t padding = 0;  // the id of the tokens behind the last part
};

// Special tokens before the part of `what`, kFirst or kSecond, which is among the parts; the first text counts as one.
constexpr std::uint32_t tokens_before(const TemplatePart* parts, std::int32_t what) noexcept {
    std::uint32_t before = 0;
    while (parts[before].id != what)
        ++before;
    return before;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
