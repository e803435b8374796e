// SPDX-License-Identifier: Apache-2.0
// BertPreTokenizer: white space separates words, punctuation is a word of its own.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../models/wordpiece.hpp"
#include "../normalizers/bert_normalizer.hpp"
#include "../segmenter.hpp"
#include "../unicode/unicode.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Segmenter<BertSegmenter, WordPiece> {
  public:
    Segmenter(const BertSegmenter&, Words<WordPiece>& words) noexcept : words_(words) {}

    void take(const Unit& unit) noexcept {
        if ((unit.flags & Properties::kWhiteSpace) != 0) {
            words_.end();
            return;
        }
        const bool is_alone = (unit.flags & Properties::kPunctuation) != 0;
        if (is_alone) words_.end();
        words_.append(unit);
        if (is_alone) words_.end();
    }
    void end() noexcept { words_.end(); }

    // Reads what is plain ASCII, most of most texts, without the machinery: here a byte is a character, normalized
    // alone.
    void read_ahead(Cursor<BertNormalizer>& cursor, std::string_view text, RawSplitter& splitter,
                    const TokenWriter& out, std::uint32_t enough) noexcept;
    template <class Reader>
    void read_ahead(Reader&, std::string_view, RawSplitter&, const TokenWriter&, std::uint32_t) noexcept {}

  private:
    Words<WordPiece>& words_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
