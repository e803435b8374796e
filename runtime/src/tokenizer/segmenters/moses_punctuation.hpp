// SPDX-License-Identifier: Apache-2.0
// Punctuation as XLMTokenizer of `transformers` and MosesPunctNormalizer of `sacremoses` normalize it. The reference
// replaces it in the whole text by one expression after the other; here each is a stage that holds what its expression
// may still match. Missing are those that only put or take white space beside characters that are words of their own.
#pragma once

#include <cstdint>

#include "etch/tokenizer/segmenters.hpp"
#include "moses_marks.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Two grave accents, or two apostrophes, of the text itself are a quotation mark; a normal form makes others of what
// has more bytes.
template <class Next>
class MosesJoinedQuotes {
  public:
    template <class... Arguments>
    explicit MosesJoinedQuotes(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (first_.is_there() && one.unit.scalar == first_.one().unit.scalar && is_mark(one)) {
            next_.put(first_.through(one).as('"', 0));
            first_.take();
            return;
        }
        first_.leave(next_);
        if (is_mark(one)) {
            first_.hold(one);
        } else {
            next_.put(one);
        }
    }
    void end() noexcept {
        first_.leave(next_);
        next_.end();
    }

  private:
    static bool is_mark(const MosesCharacter& one) noexcept {
        return (one.is('`') || one.is('\'')) && one.unit.end - one.unit.begin == 1;
    }

    Next next_;
    HeldMosesCharacter first_;
};

// Punctuation of East Asia, quotation marks and grave accents become those of ASCII.
template <class Next>
class MosesReplaced {
  public:
    template <class... Arguments>
    explicit MosesReplaced(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        const std::uint32_t scalar = one.unit.scalar;
        if (skips_ && one.has(MosesSegmenter::kWhiteSpace)) return;
        skips_ = scalar == kIdeographicStop || scalar == kFullwidthStop;
        if (skips_) {
            next_.put(one.as('.', 0));
            next_.put(one.as_space());
        } else if (scalar == kEllipsis) {
            for (int i = 0; i < 3; ++i)
                next_.put(one.as('.', 0));
        } else if (scalar - kFullwidthZero < 10) {
            next_.put(one.as('0' + (scalar - kFullwidthZero), one.kinds));
        } else if (const char ascii = ascii_of(scalar); ascii != 0) {
            next_.put(one.as(static_cast<std::uint8_t>(ascii), 0));
        } else if (scalar != '\r') {
            next_.put(one);
        }
    }
    void end() noexcept {
        skips_ = false;
        next_.end();
    }

  private:
    static constexpr std::uint32_t kIdeographicStop = 0x3002;
    static constexpr std::uint32_t kFullwidthStop = 0xFF0E;
    static constexpr std::uint32_t kFullwidthZero = 0xFF10;
    static constexpr std::uint32_t kEllipsis = 0x2026;

    static char ascii_of(std::uint32_t scalar) noexcept {
        switch (scalar) {
            case 0xFF0C:
            case 0x3001:
                return ',';
            case 0x201C:
            case 0x201D:
            case 0x201E:
            case 0x300A:
            case 0x300B:
            case 0x300C:
            case 0x300D:
                return '"';
            case 0x2236:
            case 0xFF1A:
                return ':';
            case 0xFF1F:
                return '?';
            case 0xFF09:
                return ')';
            case 0xFF01:
                return '!';
            case 0xFF08:
                return '(';
            case 0xFF1B:
                return ';';
            case 0xFF5E:
                return '~';
            case '`':
            case 0x2019:
                return '\'';
            case 0x2501:
                return '-';
            case 0x3008:
                return '<';
            case 0x3009:
                return '>';
            case 0x3010:
                return '[';
            case 0x3011:
                return ']';
            case 0xFF05:
                return '%';
            default:
                return 0;
        }
    }

    Next next_;
    bool skips_ = false;  // white space behind a full stop
};

// Dashes, and other marks for an apostrophe.
template <class Next>
class MosesDashes {
  public:
    template <class... Arguments>
    explicit MosesDashes(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        const std::uint32_t scalar = one.unit.scalar;
        if (scalar == kEnDash) {
            next_.put(one.as('-', 0));
        } else if (scalar == kEmDash) {
            next_.put(one.as_space());
            next_.put(one.as('-', 0));
            next_.put(one.as_space());
        } else if (scalar == kAcute || scalar == kOpening || scalar == kLow) {
            next_.put(one.as('\'', 0));
        } else {
            next_.put(one);
        }
    }
    void end() noexcept { next_.end(); }

  private:
    static constexpr std::uint32_t kEnDash = 0x2013;
    static constexpr std::uint32_t kEmDash = 0x2014;
    static constexpr std::uint32_t kAcute = 0xB4;
    static constexpr std::uint32_t kOpening = 0x2018;
    static constexpr std::uint32_t kLow = 0x201A;

    Next next_;
};

// Two apostrophes are a quotation mark, with spaces around it or without.
template <bool kSpaced, class Next>
class MosesQuotePairs {
  public:
    template <class... Arguments>
    explicit MosesQuotePairs(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (!one.is('\'')) {
            first_.leave(next_);
            next_.put(one);
        } else if (!first_.is_there()) {
            first_.hold(one);
        } else {
            const MosesCharacter both = first_.through(one).as('"', 0);
            first_.take();
            if (kSpaced) next_.put(both.as_space());
            next_.put(both);
            if (kSpaced) next_.put(both.as_space());
        }
    }
    void end() noexcept {
        first_.leave(next_);
        next_.end();
    }

  private:
    Next next_;
    HeldMosesCharacter first_;
};

// Angle quotation marks: U+00A0 on both sides goes, or inside of them.
template <class Next>
class MosesAngleQuotes {
  public:
    template <class... Arguments>
    explicit MosesAngleQuotes(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        const std::uint32_t scalar = one.unit.scalar;
        const bool is_space = scalar == kNoBreakSpace;
        if (has_quote_) {
            const bool takes = is_space && (has_space_ || quote_.unit.scalar == kOpening);
            write_quote(is_space);
            if (takes) return;
        }
        if (scalar == kOpening || scalar == kClosing) {
            quote_ = one;
            has_quote_ = true;
            return;
        }
        if (has_space_) next_.put(space_);
        has_space_ = is_space;
        if (is_space) {
            space_ = one;
        } else {
            next_.put(one);
        }
    }
    void end() noexcept {
        if (has_quote_) write_quote(false);
        if (has_space_) next_.put(space_);
        has_space_ = false;
        next_.end();
    }

  private:
    static constexpr std::uint32_t kOpening = 0xAB;
    static constexpr std::uint32_t kClosing = 0xBB;

    void write_quote(bool space_follows) noexcept {
        if (has_space_ && quote_.unit.scalar == kOpening && !space_follows) next_.put(space_);
        next_.put(quote_.as('"', 0));
        has_quote_ = has_space_ = false;
    }

    Next next_;
    MosesCharacter space_{};  // before the next character, or the quotation mark
    MosesCharacter quote_{};
    bool has_space_ = false;
    bool has_quote_ = false;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
