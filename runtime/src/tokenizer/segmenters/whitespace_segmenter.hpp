// SPDX-License-Identifier: Apache-2.0
// Words between white space.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../normalizers/bert_normalizer.hpp"
#include "../segmenter.hpp"
#include "../unicode/unicode.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Model>
class Segmenter<WhitespaceSegmenter, Model> {
  public:
    Segmenter(const WhitespaceSegmenter& part, Words<Model>& words) noexcept
        : words_(words),
          splits_words_(part.splits_words),
          whole_words_(part.whole_words),
          punctuation_(part.punctuation) {}

    void take(const Unit& unit) noexcept {
        const bool is_punctuation = (unit.flags & Properties::kPunctuation) != 0;
        const bool is_removed = is_punctuation && punctuation_ == PunctuationRule::removed;
        if ((unit.flags & Properties::kWhiteSpace) != 0 || is_removed) {
            end();
            return;
        }
        if (parts_at(is_punctuation)) end();
        behind_punctuation_ = is_punctuation;
        const bool is_word = (unit.flags & Properties::kWord) != 0;
        if (splits_words_ && is_word != behind_word_) end();
        behind_word_ = is_word;
        words_.append(unit);
    }
    void end() noexcept {
        if (whole_words_) {
            words_.end_whole();
        } else {
            words_.end();
        }
    }

    template <class Reader>
    void read_ahead(Reader&, std::string_view, RawSplitter&, const TokenWriter&, std::uint32_t) noexcept {}

  private:
    // Whether a word ends before a character that is punctuation, or is none.
    bool parts_at(bool is_punctuation) const noexcept {
        switch (punctuation_) {
            case PunctuationRule::isolated:
                return is_punctuation || behind_punctuation_;
            case PunctuationRule::contiguous:
                return is_punctuation != behind_punctuation_;
            case PunctuationRule::with_previous:
                return behind_punctuation_;
            case PunctuationRule::with_next:
                return is_punctuation;
            case PunctuationRule::kept:
            case PunctuationRule::removed:
                break;
        }
        return false;
    }

    Words<Model>& words_;
    bool splits_words_;
    bool whole_words_;
    PunctuationRule punctuation_;
    bool behind_word_ = false;
    bool behind_punctuation_ = false;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
