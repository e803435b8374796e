// SPDX-License-Identifier: Apache-2.0
// What the generated functions of every model share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/ops/texts.hpp"
#include "etch/status.hpp"
#include "etch/tokenizer.hpp"

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

struct Batch {
    std::uint32_t count;  // texts
    bool truncated;       // the text was cut, the only one then
};

// Tokenizes as many texts of [0, count) as fit the sink one after the other, at least the first; count is at least 1. A
// text is cut only where it is the first: another one that does not fit is left for the next batch. `rows` has room for
// most_texts(sink.capacity), the sink has no offsets, `scratch` is the tokenizer's.
Status tokenize_batch(const WordPiece& tables, const std::string_view* texts, std::size_t count, SpecialTokens mode,
                      void* scratch, const TokenSink& sink, TextRows* rows, Batch& batch) noexcept;

// Index of the largest of n >= 1 values, the lowest such index on a tie.
std::uint32_t argmax(const float* values, std::uint32_t n) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
