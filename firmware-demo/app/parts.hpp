// SPDX-License-Identifier: Apache-2.0
// Parts of an answer's line that several kinds of models have. The types are those of the model, where it has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <firmware_model.hpp>
#include <string_view>

#include "print.hpp"

namespace firmware {

// "14 tokens", and whether the text was cut.
inline void print_tokens(std::uint64_t tokens, bool truncated) {
    print(tokens);
    print(" tokens\t");
    print(truncated ? "truncated" : "whole");
}

// A TAB and its name, per cent, bytes.
template <class Name, class Span>
void print_span(const Name& name, const Span& span, bool shows_bits) {
    print("\t");
    print(name);
    print("\t");
    print(PerCent{span.score});
    print("\t");
    print(std::uint64_t{span.begin});
    print("-");
    print(std::uint64_t{span.end});
    if (shows_bits) {
        print("\t");
        print(Bits{span.score});
    }
}

// A TAB and a piece for a mask, of a long one the beginning, and its per cent.
template <class Candidate>
void print_candidate(const Candidate& candidate, bool shows_bits) {
    char text[64];
    const std::size_t size = model::piece(candidate.id, text, sizeof text);
    print("\t");
    print(Escaped{{text, size < sizeof text ? size : sizeof text}});
    print("\t");
    print(PerCent{candidate.probability});
    if (shows_bits) {
        print("\t");
        print(Bits{candidate.probability});
    }
}

// Masks whose pieces are shown, and how many of each.
constexpr std::uint32_t kShownMasks = 16;
constexpr std::uint32_t kMostPieces = 3;

}  // namespace firmware
