// SPDX-License-Identifier: Apache-2.0
// Moses' rules for a period that ends a word: which are words of their own.
#pragma once

#include <cstdint>
#include <cstring>

#include "../unicode/utf8.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "moses_marks.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// A period stays with its word behind an abbreviation, behind a word with letters and another period, and before a word
// in lower case. Behind it all words have one space between them.
template <class Next>
class MosesPeriods {
  public:
    template <class Part, class... Arguments>
    explicit MosesPeriods(const Part& part, Arguments&... arguments) noexcept
        : abbreviations_(part.abbreviations), next_(part, arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (one.has(MosesSegmenter::kWhiteSpace)) {
            has_ended_ = is_word_;
            return;
        }
        if (has_ended_) {
            if (has_period_) write_period(&one);
            next_.put(one.as_space());
            begin();
        }
        is_word_ = true;
        if (has_period_) {
            next_.put(period_);
            remember(period_);
            has_other_period_ = true;
            has_period_ = false;
        }
        if (one.is('.') && !is_empty_) {
            period_ = one;
            has_period_ = true;
        } else {
            has_other_period_ |= one.is('.');
            has_letter_ |= one.has(MosesSegmenter::kLetter);
            remember(one);
            next_.put(one);
        }
    }
    void end() noexcept {
        if (has_period_) write_period(nullptr);
        begin();
        is_word_ = false;
        next_.end();
    }

  private:
    void begin() noexcept {
        has_ended_ = has_period_ = has_other_period_ = has_letter_ = false;
        is_empty_ = true;
        size_ = 0;
    }
    void remember(const MosesCharacter& one) noexcept {
        is_empty_ = false;
        if (size_ + kMaxUtf8Bytes > sizeof bytes_ || one.unit.scalar == kRunPeriod) {
            size_ = sizeof bytes_;  // no abbreviation is so long
        } else {
            size_ += encode(one.unit.scalar, bytes_ + size_);
        }
    }
    // `behind` begins the next word, if there is one.
    void write_period(const MosesCharacter* behind) noexcept {
        const bool stays = (has_other_period_ && has_letter_) || is_abbreviation(behind) ||
                           (behind != nullptr && behind->has(MosesSegmenter::kLowercase));
        if (!stays) next_.put(period_.as_space());
        next_.put(period_);
        has_period_ = false;
    }
    bool is_abbreviation(const MosesCharacter* behind) const noexcept {
        const std::uint8_t* one = abbreviations_;
        while (*one != 0) {
            const bool counts = *one++ == MosesSegmenter::kAnywhere ||
                                (behind != nullptr && behind->unit.scalar >= '0' && behind->unit.scalar <= '9');
            const std::uint8_t* text = one;
            while (*one != 0)
                ++one;
            const auto size = static_cast<std::uint32_t>(one++ - text);
            if (size == size_ && std::memcmp(text, bytes_, size) == 0) return counts;
        }
        return false;
    }

    const std::uint8_t* abbreviations_;
    Next next_;
    MosesCharacter period_{};  // that may end the word
    std::uint32_t size_ = 0;   // of the word before it
    std::uint8_t bytes_[MosesSegmenter::kMostBytes + kMaxUtf8Bytes];
    bool is_word_ = false;    // there is a word, maybe not at its end
    bool has_ended_ = false;  // and a space behind it
    bool is_empty_ = true;    // the word has no character yet
    bool has_period_ = false;
    bool has_other_period_ = false;
    bool has_letter_ = false;
};

// A period and an apostrophe at the end of a text are words of their own.
template <class Next>
class MosesLastApostrophe {
  public:
    template <class... Arguments>
    explicit MosesLastApostrophe(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (has_period_ && !has_apostrophe_ && one.is('\'')) {
            apostrophe_ = one;
            has_apostrophe_ = true;
            return;
        }
        leave(false);
        if (one.is('.')) {
            period_ = one;
            has_period_ = true;
        } else {
            next_.put(one);
        }
    }
    void end() noexcept {
        leave(has_apostrophe_);
        next_.end();
    }

  private:
    void leave(bool parts) noexcept {
        if (parts) next_.put(period_.as_space());
        if (has_period_) next_.put(period_);
        if (parts) next_.put(apostrophe_.as_space());
        if (has_apostrophe_) next_.put(apostrophe_);
        has_period_ = has_apostrophe_ = false;
    }

    Next next_;
    MosesCharacter period_{};
    MosesCharacter apostrophe_{};
    bool has_period_ = false;
    bool has_apostrophe_ = false;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
