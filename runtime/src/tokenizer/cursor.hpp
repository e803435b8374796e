// SPDX-License-Identifier: Apache-2.0
// A normalizer as a stream: one normalized character at a time, with the bytes of the original it stands for.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

struct Unit {
    std::uint32_t scalar;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint16_t flags;  // Properties of `scalar`
};

// Walks the segment that a RawSplitter is at:
//     Cursor(const Normalizer&, std::string_view text, RawSplitter&)
//     bool next(Unit&)   false at the end of the segment
// and, where a segmenter passes over plain text by itself, what that one asks for of these:
//     bool may_seek() const                     whether nothing that was read is still to come
//     std::uint32_t position() const            then the byte that is read next
//     void seek(std::uint32_t)                  goes on there, behind characters that were passed over
//     static constexpr bool kJoins              whether a character may become one with what is behind it
//     std::uint8_t plain(std::uint8_t) const    what a byte of ASCII with ASCII behind it becomes; 0: next() finds out
// A cursor is small and can be copied to look ahead; it needs no memory that grows with the text.
template <class Normalizer>
class Cursor;

// Whether a segment may begin with a code: the normalizer has `codes` and `unknown_code`.
template <class Normalizer>
inline constexpr bool kHasCodes = false;

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
