// SPDX-License-Identifier: Apache-2.0
// One text to tokens, without the template: split, normalize, pre-tokenize, look up.
#pragma once

#include <cstdint>
#include <string_view>

#include "added_tokens.hpp"
#include "etch/tokenizer.hpp"
#include "normalizer.hpp"
#include "word.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

class Encoder {
  public:
    // Stops reading once more than `enough` tokens are certain.
    Encoder(const WordPiece& tables, std::string_view text, SpecialTokens mode, void* scratch, TokenWriter& out,
            std::uint32_t enough) noexcept
        : tables_(tables),
          text_(text),
          mode_(mode),
          splitter_(tables.raw_tokens, text, mode),
          word_(scratch, tables.max_word_chars),
          out_(out),
          enough_(enough) {}

    void run() noexcept;

  private:
    bool is_enough() const noexcept { return out_.count > enough_; }
    void encode_segment() noexcept;
    void encode_ascii(NormalizedCursor& cursor) noexcept;
    void encode_unit(const Unit& unit) noexcept;
    void end_word() noexcept;

    // Added tokens in normalized text.
    bool match_normalized(NormalizedCursor& cursor, const Unit& first) noexcept;
    void remember(const Unit& unit) noexcept;

    const WordPiece& tables_;
    std::string_view text_;
    SpecialTokens mode_;
    RawSplitter splitter_;
    Word word_;
    TokenWriter& out_;
    std::uint32_t enough_;

    // Only kept where there are tokens to be matched in normalized text.
    std::uint32_t units_to_pass_ = 0;    // characters of a token that was found but not wanted: no token begins in it
    bool after_word_character_ = false;  // within the segment
    bool after_space_ = false;           // and within the segment's ordinary text since the last token
    std::uint32_t space_begin_ = 0;      // where that white space begins
    std::uint32_t units_swallowed_ = 0;  // white space ahead that belongs to the last token, though one may begin in it
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
