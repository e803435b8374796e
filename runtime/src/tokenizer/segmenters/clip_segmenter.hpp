// SPDX-License-Identifier: Apache-2.0
// The words of CLIP's expression.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../segmenter.hpp"
#include "../unicode/letters.hpp"
#include "../unicode/utf8.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "split_segmenter.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// The text of a special token is three words, as it would be elsewhere; but that where the expression finds it, another
// word begins behind its last character.
template <class Model>
class Segmenter<ClipSegmenter, Model> {
  public:
    Segmenter(const ClipSegmenter& part, Words<Model>& words) noexcept : words_(part.words, words) {}

    void take(const Unit& unit) noexcept {
        words_.take(unit);
        follow(unit.scalar);
        if (rest_ != nullptr && *rest_ == 0) end();
    }

    void end() noexcept {
        words_.end();
        rest_ = nullptr;
        before_ = kSpace;
    }

    template <class Reader>
    void read_ahead(Reader& cursor, std::string_view text, RawSplitter& splitter, const TokenWriter& out,
                    std::uint32_t enough) noexcept {
        if (rest_ == nullptr) words_.read_ahead(cursor, text, splitter, out, enough);
    }

  private:
    static constexpr std::uint32_t kBoth = 2;  // characters that they begin with
    static constexpr char kStart[] = "<|startoftext|>";
    static constexpr char kEnd[] = "<|endoftext|>";

    void follow(std::uint32_t scalar) noexcept {
        if (rest_ != nullptr && scalar == static_cast<std::uint8_t>(*rest_)) {
            ++rest_;
        } else if (rest_ == kStart + kBoth && scalar == static_cast<std::uint8_t>(kEnd[kBoth])) {
            rest_ = kEnd + kBoth + 1;
        } else {
            rest_ = scalar == '<' && kind_of(before_) != Kind::other ? kStart + 1 : nullptr;
        }
        before_ = scalar;
    }

    Segmenter<SplitSegmenter<ByteLevelSegmenter>, Model> words_;
    const char* rest_ = nullptr;     // of the text of a special token that is being read; none is
    std::uint32_t before_ = kSpace;  // the character before, or a letter that stands for those read ahead
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
