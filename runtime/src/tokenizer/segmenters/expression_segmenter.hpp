// SPDX-License-Identifier: Apache-2.0
// The words that expressions find.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../segmenter.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "character_classes.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// What has been read of a part and is no word yet lies in `words_`: first characters that no word begins with, then
// those of a word. Where no longer word can be found, the longest one is written, and what was read behind it is read
// again.
template <class Model>
class Segmenter<ExpressionSegmenter, Model> {
  public:
    Segmenter(const ExpressionSegmenter& part, Words<Model>& words) noexcept
        : part_(part), classes_(part.classes), words_(words) {}

    void take(const Unit& unit) noexcept {
        const std::uint32_t one = classes_.class_of(unit.scalar);
        if (part_.front_steps != nullptr) {
            const std::uint32_t step = part_.front_steps[front_ * part_.class_count + one];
            front_ = step & ExpressionSegmenter::kState;
            if ((step & ExpressionSegmenter::kParted) != 0) end_part();
            if ((step & ExpressionSegmenter::kDropped) != 0) return;
        }
        words_.append(unit);
        last_ = one;
        if (words_.chars() == 1) begin_at(0);  // what was too long has been cut
        read();
    }

    void end() noexcept {
        end_part();
        front_ = 0;
    }

    template <class Reader>
    void read_ahead(Reader&, std::string_view, RawSplitter&, const TokenWriter&, std::uint32_t) noexcept {}

  private:
    // A word is looked for behind so many characters.
    void begin_at(std::uint32_t chars) noexcept {
        state_ = ExpressionSegmenter::kStart;
        begin_ = read_ = found_ = chars;
    }

    // All characters that have not been read.
    void read() noexcept {
        while (read_ < words_.chars()) {
            const bool is_last = read_ + 1 == words_.chars();
            if (pass(is_last ? last_ : classes_.class_of(words_.scalar(read_)))) {
                ++read_;
            } else {
                end_word();
            }
        }
    }

    // Whether the word may go on with a character of this class, or as ever at its end.
    bool pass(std::uint32_t one) noexcept {
        const std::uint32_t step = part_.word_steps[state_ * part_.class_count + one];
        if ((step & ExpressionSegmenter::kFound) != 0) found_ = read_;
        state_ = step & ExpressionSegmenter::kState;
        return state_ != ExpressionSegmenter::kDead;
    }

    // The longest word that was found ends, or none begins here.
    void end_word() noexcept {
        if (found_ == begin_) {
            begin_at(begin_ + 1);
            return;
        }
        write(begin_);
        write(found_ - begin_);
        begin_at(0);
    }

    void end_part() noexcept {
        while (begin_ < words_.chars()) {
            pass(ExpressionSegmenter::kEnd);
            end_word();
            read();
        }
        words_.end();
        begin_at(0);
    }

    // The first characters are a word.
    void write(std::uint32_t chars) noexcept {
        if (chars == words_.chars()) {
            words_.end();
        } else if (chars != 0) {
            words_.end_front(chars);
        }
    }

    const ExpressionSegmenter& part_;
    CharacterClassifier classes_;
    Words<Model>& words_;
    std::uint32_t last_ = 0;   // the class of the last character
    std::uint32_t front_ = 0;  // states
    std::uint32_t state_ = ExpressionSegmenter::kStart;
    std::uint32_t begin_ = 0;  // characters in front of the word,
    std::uint32_t read_ = 0;   // those that have been read,
    std::uint32_t found_ = 0;  // and those up to the end of the longest word
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
