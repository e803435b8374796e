// SPDX-License-Identifier: Apache-2.0
// A text parted at single characters, and the words that another segmenter finds in its parts.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../segmenter.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "byte_level_segmenter.hpp"
#include "character_classes.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Inner, class Model>
class Segmenter<SplitSegmenter<Inner>, Model> {
  public:
    Segmenter(const SplitSegmenter<Inner>& part, Words<Model>& words) noexcept
        : part_(part), classes_(part.classes), segmenter_(part.inner, words) {}

    void take(const Unit& unit) noexcept {
        const std::uint32_t one = classes_.class_of(unit.scalar);
        if (one == 0) {
            end();
            return;
        }
        if ((part_.parted[one] >> before_ & 1U) != 0) segmenter_.end();
        before_ = one;
        segmenter_.take(unit);
    }

    void end() noexcept {
        segmenter_.end();
        before_ = 0;
    }

    // Letters that stay together.
    template <class Reader>
    void read_ahead(Reader& cursor, std::string_view text, RawSplitter& splitter, const TokenWriter& out,
                    std::uint32_t enough) noexcept {
        if constexpr (std::is_same_v<Inner, ByteLevelSegmenter>) {
            if (before_ == 0 || before_ != part_.letter_class) return;
            segmenter_.read_ahead(cursor, text, splitter, out, enough);
        }
    }

  private:
    const SplitSegmenter<Inner>& part_;
    CharacterClassifier classes_;
    Segmenter<Inner, Model> segmenter_;
    std::uint32_t before_ = 0;  // the class of the character before; 0 where a part begins
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
