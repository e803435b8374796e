// SPDX-License-Identifier: Apache-2.0
// Labels of tokens, and entities made of them as the token classification pipeline of `transformers` makes them.
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/decode/words.hpp"
#include "etch/ops/rows.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// What a span is. Labels "B-NAME" and "I-NAME" are of the entity NAME; it goes on with an equal name behind it that is
// no "B-". Tokens and entities that are called "O" are no spans.
enum class Aggregation : std::uint8_t {
    none,     // a token; its label and probability
    simple,   // an entity of tokens
    first,    // an entity of words; a word has the label of its first token,
    average,  // the label with the largest mean probability over its tokens,
    max,      // or that of its token with the largest probability
};
// As programs and boards are told them.
inline constexpr std::string_view kAggregationNames[] = {"none", "simple", "first", "average", "max"};

struct TagSpan {
    std::uint32_t label;  // index into kLabels with Aggregation::none, else into kEntities
    float score;          // probability; of an entity the mean over its tokens or words
    std::uint32_t begin;  // bytes [begin, end) of the text; of token ids, the numbers of tokens
    std::uint32_t end;
};

// A label as aggregation reads it.
struct TagLabel {
    std::uint32_t entity;  // index into kEntities: the name behind the first "-"
    std::uint32_t group;   // labels with equal ones may go on each other: the name behind "B-" or "I-"
    bool begins;           // "B-": always a new entity
    bool outside;          // the label is "O"
    bool no_entity;        // the entity is "O"
};

struct TaggedTokens {
    const TokenOffset* offsets;  // [count]
    const TokenMark* marks;      // [count]
    F32Rows probability;         // [count][labels]
    std::uint32_t count;
};

// Finds the spans of a text in order, writes the first `capacity` of them and returns their number: at most as many as
// there are tokens. `labels` is [probability.width]. Sums go from left to right, and of equal values the first wins.
std::uint32_t find_tags(const TagLabel* labels, const TaggedTokens& tokens, Aggregation aggregation, TagSpan* spans,
                        std::uint32_t capacity) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
