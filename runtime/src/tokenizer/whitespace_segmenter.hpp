// SPDX-License-Identifier: Apache-2.0
// Words between white space.
#pragma once

#include <cstdint>
#include <string_view>

#include "added_tokens.hpp"
#include "bert_normalizer.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "segmenter.hpp"
#include "unicode.hpp"
#include "word.hpp"
#include "words.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Model>
class Segmenter<WhitespaceSegmenter, Model> {
  public:
    Segmenter(const WhitespaceSegmenter& part, Words<Model>& words) noexcept
        : words_(words), splits_words_(part.splits_words) {}

    void take(const Unit& unit) noexcept {
        if ((unit.flags & Properties::kWhiteSpace) != 0) {
            words_.end_whole();
            return;
        }
        const bool is_word = (unit.flags & Properties::kWord) != 0;
        if (splits_words_ && is_word != behind_word_) words_.end_whole();
        behind_word_ = is_word;
        words_.append(unit);
    }
    void end() noexcept { words_.end_whole(); }

    template <class Reader>
    void read_ahead(Reader&, std::string_view, RawSplitter&, const TokenWriter&, std::uint32_t) noexcept {}

  private:
    Words<Model>& words_;
    bool splits_words_;
    bool behind_word_ = false;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
