// SPDX-License-Identifier: Apache-2.0
// Commas and periods beside quotation marks, and in numbers, as MosesPunctNormalizer of `sacremoses` has them by
// language.
#pragma once

#include <cstdint>

#include "etch/tokenizer/segmenters.hpp"
#include "moses_marks.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Of what changes places here, each is at the place of all.
//
// English: commas and periods behind a quotation mark stand before it.
template <class Next>
class MosesEnglishCommas {
  public:
    template <class... Arguments>
    explicit MosesEnglishCommas(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (quote_.is_there() && (one.is(',') || one.is('.'))) {
            next_.put(quote_.through(one).as(one.unit.scalar, one.kinds));
            return;
        }
        quote_.leave(next_);
        if (one.is('"')) {
            quote_.hold(one);
        } else {
            next_.put(one);
        }
    }
    void end() noexcept {
        quote_.leave(next_);
        next_.end();
    }

  private:
    Next next_;
    HeldMosesCharacter quote_;
};

// French: a comma before a quotation mark stands behind it.
template <class Next>
class MosesFrenchCommas {
  public:
    template <class... Arguments>
    explicit MosesFrenchCommas(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        const bool swaps = comma_.is_there() && one.is('"');
        if (swaps) next_.put(comma_.through(one).as('"', 0));
        comma_.leave(next_);
        if (one.is(',')) {
            comma_.hold(one);
        } else if (!swaps) {
            next_.put(one);
        }
    }
    void end() noexcept {
        comma_.leave(next_);
        next_.end();
    }

  private:
    Next next_;
    HeldMosesCharacter comma_;
};

// So do periods, if the text goes on and not with <. What follows is part of a find, white space and one more.
template <class Next>
class MosesFrenchPeriods {
  public:
    template <class... Arguments>
    explicit MosesFrenchPeriods(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (is_behind_) {
            is_behind_ = one.has(MosesSegmenter::kWhiteSpace);
            if (is_behind_ || !one.is('<')) {
                next_.put(one);
                return;
            }
        }
        if (has_quote_) {
            const bool is_found = !one.is('<');
            leave(is_found);
            is_behind_ = is_found && one.has(MosesSegmenter::kWhiteSpace);
            next_.put(one);
        } else if (one.is('.')) {
            if (periods_ == 0) period_ = one;
            period_.unit.end = one.unit.end;
            ++periods_;
        } else if (one.is('"') && periods_ != 0) {
            quote_ = one;
            has_quote_ = true;
        } else {
            leave(false);
            next_.put(one);
        }
    }
    void end() noexcept {
        leave(false);
        is_behind_ = false;
        next_.end();
    }

  private:
    void leave(bool quote_first) noexcept {
        if (has_quote_ && quote_first) {
            period_.unit.end = quote_.unit.end;
            next_.put(period_.as('"', 0));
        }
        for (; periods_ != 0; --periods_)
            next_.put(period_);
        if (has_quote_ && !quote_first) next_.put(quote_);
        has_quote_ = false;
    }

    Next next_;
    MosesCharacter period_{};
    MosesCharacter quote_{};
    std::uint32_t periods_ = 0;  // held
    bool has_quote_ = false;     // behind them
    bool is_behind_ = false;     // a find, whose white space goes on
};

// U+00A0 between two digits becomes a mark.
template <char kMark, class Next>
class MosesNumbers {
  public:
    template <class... Arguments>
    explicit MosesNumbers(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        const bool is_digit = one.has(NormalizedMosesSegmenter<MosesLanguage::english>::kDigit);
        const bool is_found = has_space_ && is_digit;
        if (has_space_) next_.put(is_found ? space_.as(kMark, 0) : space_);
        has_space_ = is_digit_ && one.unit.scalar == kNoBreakSpace;
        if (has_space_) {
            space_ = one;
        } else {
            next_.put(one);
        }
        is_digit_ = is_digit && !is_found;
    }
    void end() noexcept {
        if (has_space_) next_.put(space_);
        has_space_ = is_digit_ = false;
        next_.end();
    }

  private:
    Next next_;
    MosesCharacter space_{};
    bool has_space_ = false;
    bool is_digit_ = false;  // before the next character, and no part of a find
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
