// SPDX-License-Identifier: Apache-2.0
#include "etch/session.hpp"

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

Status tokenize_batch(const WordPiece& tables, const std::string_view* texts, std::size_t count, SpecialTokens mode,
                      void* scratch, const TokenSink& sink, TextRows* rows, Batch& batch) noexcept {
    batch = {0, false};
    std::uint32_t first = 0;
    std::uint32_t place = 0;
    while (batch.count < count && (batch.count == 0 || place + kPanelWidth <= sink.capacity)) {
        Tokenized tokens;
        const TokenSink rest{sink.ids + first, sink.segments + first, nullptr, sink.capacity - place};
        const Status status = tokenize(tables, texts[batch.count], mode, scratch, rest, tokens);
        if (status != Status::ok) return status;
        if (tokens.truncated && batch.count != 0) break;
        rows[batch.count] = {first, tokens.count, place};
        ++batch.count;
        batch.truncated = tokens.truncated;
        first += tokens.count;
        place += static_cast<std::uint32_t>(round_up(tokens.count, kPanelWidth));
    }
    return Status::ok;
}

std::uint32_t argmax(const float* values, std::uint32_t n) noexcept {
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < n; ++i) {
        if (values[i] > values[best]) best = i;
    }
    return best;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
