// SPDX-License-Identifier: Apache-2.0
// Moses' rules that join words, as stages that hold what a rule may still match. The reference goes through the whole
// text once for each: dashes, then what is escaped, then the spaces between the words that are left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "etch/tokenizer/moses_decoder.hpp"
#include "segmenters/character_classes.hpp"
#include "unicode/utf8.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// What the stages know of a text so far. Zeros are its beginning.
struct Joining {
    static constexpr std::uint32_t kMostHeld = 28;  // bytes of a word that is not decided
    static constexpr std::uint32_t kMostQuotes = 3;
    static constexpr std::uint32_t kQuoteKinds = 5;
    static constexpr std::uint32_t kQuoteWords = 5 + 25 + 125;
    static constexpr std::uint32_t kMostEntity = 5;  // of what may be escaped, without its end

    std::uint8_t held[kMostHeld + kMaxUtf8Bytes - 1];
    std::uint8_t is_open[(kQuoteWords + 7) / 8];  // by words of quotation marks
    std::uint8_t entity[kMostEntity];
    std::uint8_t held_size;
    std::uint8_t entity_size;
    std::uint8_t dash_size;
    std::uint8_t kinds;         // that all characters of a word are of
    std::uint8_t quotes;        // in it, one more than kMostQuotes where there are more; then its
    std::uint8_t quote_number;  // place among all of its size,
    bool is_low : 1;            // but that any of low and high ones alone are as a straight one
    // Of the characters before any rule.
    bool is_word : 1;
    bool begins : 1;     // nothing of it is passed on
    bool is_passed : 1;  // all of it is, be it whole or not
    bool joins : 1;      // the dash before it took the space
    // Of the words between the spaces that are left.
    bool has_begun : 1;    // something is written
    bool has_word : 1;     // a word goes on,
    bool is_settled : 1;   // but its end is decided,
    bool is_written : 1;   // so are its first characters
    bool is_glued : 1;     // no space before the next word
    bool has_before : 1;   // there is a word before it,
    bool before_is_s : 1;  // whose last character is the letter s,
    bool before_is_east_asian : 1;
    bool last_is_s : 1;  // of this word
    bool last_is_east_asian : 1;
};

// Bytes in memory of the caller's, or nowhere: as many as fit.
class JoinedText {
  public:
    JoinedText(char* text, std::size_t capacity) noexcept : text_(text), capacity_(capacity) {}

    std::size_t size() const noexcept { return size_; }
    void put(const std::uint8_t* bytes, std::uint32_t count) noexcept {
        for (std::uint32_t i = 0; i < count; ++i, ++size_)
            if (text_ != nullptr && size_ < capacity_) text_[size_] = static_cast<char>(bytes[i]);
    }

  private:
    char* text_;
    std::size_t capacity_;
    std::size_t size_ = 0;
};

// Spaces before words: a word is written once it is decided whether it has one.
class JoinedWords {
  public:
    JoinedWords(const MosesDecoder& decoder, Joining& state, JoinedText& out) noexcept
        : english_(decoder.english), state_(state), out_(out) {}

    void put(std::uint32_t scalar, std::uint32_t kinds) noexcept {
        if (state_.is_settled) {  // what is added to it is as it is
            state_.is_settled = false;
            state_.kinds = 0;
        } else if (!state_.has_word) {
            begin(kinds);
        }
        const bool was_apostrophe = state_.quotes == 1 && state_.quote_number == kApostrophe && state_.kinds != 0;
        state_.kinds = static_cast<std::uint8_t>(state_.kinds & kinds);
        state_.last_is_s = scalar == 's';
        state_.last_is_east_asian = (kinds & MosesDecoder::kEastAsian) != 0;
        if ((state_.kinds & MosesDecoder::kQuotes) != 0) count_quote(scalar);
        const bool contracts = english_ && was_apostrophe && state_.has_before && (kinds & MosesDecoder::kLetter) != 0;
        if (state_.is_written) {
            write(scalar);
            return;
        }
        if ((state_.kinds & kHeldWord) == 0) {
            write_held(!contracts);
        } else if (state_.quotes > Joining::kMostQuotes) {  // it opens, and has a space as a word of others
            write_held(true);
        } else if (state_.held_size >= Joining::kMostHeld) {  // taken for all of it
            write_held(false);
        }
        hold(scalar);
    }
    void end_word() noexcept {
        if (!state_.has_word) return;
        if (!state_.is_settled) decide();
        state_.is_settled = state_.has_word = false;
    }
    // The same where it may go on.
    void settle() noexcept {
        if (!state_.has_word || state_.is_settled) return;
        decide();
        state_.is_settled = true;
    }

  private:
    static constexpr std::uint32_t kApostrophe = 0;
    static constexpr std::uint32_t kStraight = 1;
    static constexpr std::uint32_t kHeldWord = MosesDecoder::kPunctuation | MosesDecoder::kQuotes;

    void begin(std::uint32_t kinds) noexcept {
        state_.has_word = true;
        state_.kinds = kHeldWord | MosesDecoder::kOpens;
        state_.held_size = state_.quote_number = 0;
        state_.quotes = 0;
        state_.is_low = true;
        // No space is none before any word.
        state_.is_written = !state_.has_begun || state_.is_glued;
        const bool is_east_asian = (kinds & MosesDecoder::kEastAsian) != 0;
        if (is_east_asian) state_.kinds = 0;
        if (!state_.is_written && is_east_asian && state_.before_is_east_asian) state_.is_written = true;
        state_.has_begun = true;
    }
    void count_quote(std::uint32_t scalar) noexcept {
        std::uint32_t number = kApostrophe;
        if (scalar != '\'') number = scalar == '"' ? kStraight : scalar == 0x201E ? 2 : scalar == 0x201C ? 3 : 4;
        state_.is_low = state_.is_low && (number == 2 || number == 3);
        if (state_.quotes > Joining::kMostQuotes) return;
        if (++state_.quotes > Joining::kMostQuotes) return;
        state_.quote_number = static_cast<std::uint8_t>(state_.quote_number * Joining::kQuoteKinds + number);
    }
    void write(std::uint32_t scalar) noexcept {
        std::uint8_t bytes[kMaxUtf8Bytes];
        out_.put(bytes, encode(scalar, bytes));
    }
    void hold(std::uint32_t scalar) noexcept {
        if (state_.is_written) {
            write(scalar);
        } else {
            state_.held_size =
                static_cast<std::uint8_t>(state_.held_size + encode(scalar, state_.held + state_.held_size));
        }
    }
    void write_held(bool with_space) noexcept {
        const std::uint8_t space = ' ';
        if (with_space) out_.put(&space, 1);
        out_.put(state_.held, state_.held_size);
        state_.is_written = true;
    }
    // What the whole word is.
    void decide() noexcept {
        state_.is_glued = false;
        bool has_space = true;
        if ((state_.kinds & MosesDecoder::kOpens) != 0) {
            state_.is_glued = true;
        } else if ((state_.kinds & MosesDecoder::kPunctuation) != 0) {
            has_space = false;
        } else if ((state_.kinds & MosesDecoder::kQuotes) != 0) {
            has_space = state_.is_glued = opens();
        }
        if (!state_.is_written) write_held(has_space);
        state_.has_before = true;
        state_.before_is_s = state_.last_is_s;
        state_.before_is_east_asian = state_.last_is_east_asian;
    }
    // Of quotation marks: such a word opens or closes.
    bool opens() noexcept {
        if (state_.quotes > Joining::kMostQuotes) return true;
        constexpr std::uint32_t kFirst[] = {0, 0, 5, 5 + 25};  // by size
        const bool is_straight = state_.is_low;
        const std::uint32_t place = is_straight ? kStraight : kFirst[state_.quotes] + state_.quote_number;
        const auto bit = static_cast<std::uint8_t>(1U << (place % 8));
        std::uint8_t& bits = state_.is_open[place / 8];
        const bool is_open = (bits & bit) != 0;
        const bool is_apostrophe = place == kApostrophe;
        if (!is_open && english_ && is_apostrophe && state_.has_before && state_.before_is_s) return false;
        bits = static_cast<std::uint8_t>(bits ^ bit);
        return !is_open;
    }

    bool english_;
    Joining& state_;
    JoinedText& out_;
};

// What XML has a meaning for, by its names and numbers.
class ReadEntities {
  public:
    ReadEntities(const MosesDecoder& decoder, Joining& state, JoinedText& out) noexcept
        : kinds_(decoder.classes), state_(state), next_(decoder, state, out) {}

    void put(std::uint32_t scalar) noexcept {
        if (state_.entity_size != 0) {
            std::uint32_t named = 0;
            if (scalar < 0x80U && goes_on(static_cast<char>(scalar), named)) {
                if (named == 0) {
                    state_.entity[state_.entity_size++] = static_cast<std::uint8_t>(scalar);
                } else {
                    state_.entity_size = 0;
                    pass(named);
                }
                return;
            }
            leave();
        }
        if (scalar == '&') {
            state_.entity[state_.entity_size++] = '&';
        } else {
            pass(scalar);
        }
    }
    void leave() noexcept {
        for (std::uint32_t i = 0; i < state_.entity_size; ++i)
            pass(state_.entity[i]);
        state_.entity_size = 0;
    }
    void end_word() noexcept { next_.end_word(); }
    void settle() noexcept { next_.settle(); }
    std::uint32_t kinds_of(std::uint32_t scalar) noexcept { return kinds_.class_of(scalar); }

  private:
    struct Named {
        char text[Joining::kMostEntity + 2];
        char is;
    };
    static constexpr Named kNamed[] = {
        {"&bar;", '|'},  {"&#124;", '|'},  {"&lt;", '<'},  {"&gt;", '>'},  {"&bra;", '['}, {"&ket;", ']'},
        {"&quot;", '"'}, {"&apos;", '\''}, {"&#91;", '['}, {"&#93;", ']'}, {"&amp;", '&'},
    };

    // Whether what is held and this begin a name; `named` is what a whole one stands for, else 0.
    bool goes_on(char c, std::uint32_t& named) const noexcept {
        for (const Named& one : kNamed) {
            if (one.text[state_.entity_size] != c) continue;
            if (std::memcmp(one.text, state_.entity, state_.entity_size) != 0) continue;
            named = c == ';' ? static_cast<std::uint8_t>(one.is) : 0;
            return true;
        }
        return false;
    }
    void pass(std::uint32_t scalar) noexcept { next_.put(scalar, kinds_of(scalar)); }

    CharacterClassifier kinds_;
    Joining& state_;
    JoinedWords next_;
};

// A word @-@ is a dash that joins those beside it; it takes the spaces, so that another one behind it is none.
class JoinedDashes {
  public:
    JoinedDashes(const MosesDecoder& decoder, Joining& state, JoinedText& out) noexcept
        : state_(state), next_(decoder, state, out) {}

    void put(std::uint32_t scalar) noexcept {
        if ((next_.kinds_of(scalar) & MosesDecoder::kWhiteSpace) != 0) {
            end_word();
            return;
        }
        if (!state_.is_word) {
            state_.is_word = state_.begins = true;
            state_.dash_size = 0;
        } else if (state_.is_passed) {  // it goes on after all
            state_.joins = false;
        }
        state_.is_passed = false;
        if (state_.begins) {
            const bool may_be_dash = !state_.joins && state_.dash_size < kDashSize;
            if (may_be_dash && scalar == static_cast<std::uint8_t>(kDash[state_.dash_size])) {
                ++state_.dash_size;
                return;
            }
            leave();
        }
        next_.put(scalar);
    }
    void end_word() noexcept {
        if (state_.is_word) pass_word();
        state_.is_word = state_.is_passed = false;
    }
    // The text may end here, or go on.
    void settle() noexcept {
        if (state_.is_word) pass_word();
        state_.is_passed = state_.is_word;
        next_.settle();
    }

  private:
    static constexpr char kDash[] = "@-@";
    static constexpr std::uint32_t kDashSize = sizeof kDash - 1;

    void pass_word() noexcept {
        if (state_.is_passed) return;
        const bool is_dash = state_.begins && state_.dash_size == kDashSize;
        if (is_dash) {
            next_.put('-');
        } else if (state_.begins) {
            leave();
        }
        next_.leave();
        state_.begins = false;
        state_.joins = is_dash;
    }
    // It is no dash: what is held is the beginning of a word.
    void leave() noexcept {
        if (!state_.joins) next_.end_word();
        for (std::uint32_t i = 0; i < state_.dash_size; ++i)
            next_.put(static_cast<std::uint8_t>(kDash[i]));
        state_.begins = state_.joins = false;
        state_.dash_size = 0;
    }

    Joining& state_;
    ReadEntities next_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
