// SPDX-License-Identifier: Apache-2.0
// Added tokens: leftmost-longest matching, and the split of the raw text at those matched before normalization.
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/tokenizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::uint32_t kNoToken = 0xFFFFFFFF;

inline bool can_begin(const AddedTokens& tokens, std::uint8_t byte) noexcept {
    return (tokens.first_bytes[byte / 32] >> (byte % 32) & 1U) != 0;
}

// Follows the contents that begin with the bytes seen so far. Contents are sorted, so these are a range that shrinks,
// and one that ends here is the first of them.
class ContentSearch {
  public:
    explicit ContentSearch(const AddedTokens& tokens) noexcept : tokens_(tokens), high_(tokens.count) {}

    // False once no content goes on with `byte`; then the search is over. There must be contents.
    bool step(std::uint8_t byte) noexcept;

    // The content made of exactly the bytes seen so far, or kNoToken.
    std::uint32_t complete() const noexcept { return size(low_) == depth_ ? low_ : kNoToken; }

  private:
    std::uint32_t size(std::uint32_t index) const noexcept { return tokens_.begins[index + 1] - tokens_.begins[index]; }
    // Sorts before every byte where the content has ended.
    int next_byte(std::uint32_t index) const noexcept {
        return size(index) == depth_ ? -1 : tokens_.text[tokens_.begins[index] + depth_];
    }
    std::uint32_t lower_bound(int byte) const noexcept;

    const AddedTokens& tokens_;
    std::uint32_t low_ = 0;
    std::uint32_t high_;
    std::uint32_t depth_ = 0;
};

struct TokenMatch {
    std::int32_t id;
    std::uint32_t begin;  // with the white space that it swallows
    std::uint32_t end;
    std::uint32_t spaces_before;  // characters that it swallows
    std::uint32_t spaces_after;
    std::uint8_t flags;  // of AddedTokens
};

// The raw text as an alternation of segments of ordinary text and matched tokens. Matches are looked for only a little
// ahead of the reader, so that a caller who stops early has not paid for the whole text.
class RawSplitter {
  public:
    RawSplitter(const AddedTokens& tokens, std::string_view text, SpecialTokens mode) noexcept;

    // Whether the current segment goes on at `at`, the start of a character.
    bool contains(std::uint32_t at) noexcept {
        while (at >= clear_) {
            if (closed_) return false;
            look_ahead();
        }
        return true;
    }
    // The segment is known to go on up to here.
    std::uint32_t clear() const noexcept { return clear_; }
    std::uint32_t segment_begin() const noexcept { return segment_begin_; }

    // After the current segment: gives the token that ends it and starts the next one. False at the end of the text.
    bool take(TokenMatch& match) noexcept;

    // Leaves out the beginning of the current segment, which goes on up to `begin` at least.
    void begin_segment(std::uint32_t begin) noexcept { segment_begin_ = begin; }

  private:
    void look_ahead() noexcept;
    std::uint32_t first_that_can_begin(std::uint32_t at, std::uint32_t stop) const noexcept;
    bool match_at_search() noexcept;
    bool touches_word(std::uint32_t begin, std::uint32_t end) const noexcept;
    bool must_look_further() const noexcept;

    const AddedTokens& tokens_;
    std::string_view text_;
    SpecialTokens mode_;
    bool closed_ = false;  // the end of the segment is known: it is clear_
    bool found_ = false;   // and match_ is there
    std::uint32_t segment_begin_ = 0;
    std::uint32_t search_ = 0;  // no match begins before this
    std::uint32_t clear_ = 0;
    TokenMatch match_{};
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
