// SPDX-License-Identifier: Apache-2.0
// The words of cl100k's expression, one character at a time.
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
#include "ascii_letters.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// A run of white space is one word while it is read, and falls apart behind its end: up to its last line break; what
// follows, but for its last character; that one, which a word behind it may take.
template <class Model>
class Segmenter<Cl100kSegmenter, Model> {
  public:
    Segmenter(const Cl100kSegmenter& part, Words<Model>& words) noexcept
        : words_(words), most_digits_(part.most_digits) {}

    void take(const Unit& unit) noexcept {
        const Kind kind = kind_of(unit.scalar);
        if (!goes_on(unit, kind)) begin(unit, kind);
    }

    void end() noexcept {
        if (state_ == State::contraction) words_.append(held_);
        if (state_ == State::space && breaks_ != 0 && breaks_ != words_.chars()) words_.end_front(breaks_);
        words_.end();
        state_ = State::between;
    }

    // Reads ASCII letters within a word.
    template <class Reader>
    void read_ahead(Reader& cursor, std::string_view text, RawSplitter& splitter, const TokenWriter&,
                    std::uint32_t) noexcept {
        if (state_ == State::letter) append_ascii_letters(words_, cursor, text, splitter);
    }

  private:
    static constexpr std::uint32_t kApostrophe = 0x27;
    static constexpr std::uint32_t kLongS = 0x17F;  // which an expression that ignores case takes for an s

    enum class State : std::uint8_t {
        between,      // nothing is being read
        letter,       // the word is a run of letters, maybe behind one other character,
        number,       // numbers,
        one_other,    // one other character, behind which letters may come,
        other,        // others, maybe behind a space,
        breaks,       // line breaks behind others,
        space,        // or white space
        apostrophe,   // begins the word
        contraction,  // an apostrophe begins the word, and r, v or l is held back
    };

    static bool is_break(std::uint32_t scalar) noexcept { return scalar == '\n' || scalar == '\r'; }
    static std::uint32_t lower(std::uint32_t scalar) noexcept {
        if (scalar == kLongS) return 's';
        return scalar < 0x80U ? scalar | 0x20U : scalar;
    }

    // Whether the character belongs to the word, or ends one that it begins with; else the word has ended.
    bool goes_on(const Unit& unit, Kind kind) noexcept {
        switch (state_) {
            case State::between:
                return false;
            case State::letter:
                return append_or_end(unit, kind == Kind::letter);
            case State::number:
                return append_or_end(unit, kind == Kind::number && digits_++ < most_digits_);
            case State::other:
                if (is_break(unit.scalar)) state_ = State::breaks;
                return append_or_end(unit, kind == Kind::other || is_break(unit.scalar));
            case State::breaks:
                return append_or_end(unit, is_break(unit.scalar));
            case State::space:
                return goes_on_behind_space(unit, kind);
            case State::apostrophe:
                return goes_on_behind_apostrophe(unit, kind);
            case State::contraction:
                return goes_on_contracted(unit, kind);
            default:
                return goes_on_behind_other(unit, kind);
        }
    }

    bool append_or_end(const Unit& unit, bool belongs) noexcept {
        if (belongs) {
            words_.append(unit);
        } else {
            words_.end();
        }
        return belongs;
    }

    bool goes_on_behind_other(const Unit& unit, Kind kind) noexcept {
        if (kind != Kind::letter) {
            state_ = State::other;
            return goes_on(unit, kind);
        }
        words_.append(unit);
        state_ = State::letter;
        return true;
    }

    bool goes_on_behind_apostrophe(const Unit& unit, Kind kind) noexcept {
        const std::uint32_t letter = kind == Kind::letter ? lower(unit.scalar) : 0;
        if (letter == 'r' || letter == 'v' || letter == 'l') {
            held_ = unit;
            state_ = State::contraction;
            return true;
        }
        if (letter != 's' && letter != 't' && letter != 'm' && letter != 'd') return goes_on_behind_other(unit, kind);
        end_with(unit);
        return true;
    }

    bool goes_on_contracted(const Unit& unit, Kind kind) noexcept {
        const std::uint32_t wanted = lower(held_.scalar) == 'l' ? 'l' : 'e';
        words_.append(held_);
        state_ = State::letter;
        if (kind != Kind::letter || lower(unit.scalar) != wanted) return goes_on(unit, kind);
        end_with(unit);
        return true;
    }

    bool goes_on_behind_space(const Unit& unit, Kind kind) noexcept {
        if (kind == Kind::space) {
            append_space(unit);
            return true;
        }
        std::uint32_t left = words_.chars();
        if (breaks_ != 0 && breaks_ != left) words_.end_front(breaks_);
        if (breaks_ == left) return append_or_end(unit, false);
        left -= breaks_;
        if (left > 1) words_.end_front(left - 1);
        const bool takes_it = kind == Kind::letter || (kind == Kind::other && last_space_ == kSpace);
        state_ = kind == Kind::letter ? State::letter : State::other;
        return append_or_end(unit, takes_it);
    }

    void append_space(const Unit& unit) noexcept {
        words_.append(unit);
        if (words_.chars() == 1) breaks_ = 0;  // a run that was too long has been cut
        if (is_break(unit.scalar)) breaks_ = words_.chars();
        last_space_ = unit.scalar;
    }

    void end_with(const Unit& unit) noexcept {
        words_.append(unit);
        words_.end();
        state_ = State::between;
    }

    // The first character of a word.
    void begin(const Unit& unit, Kind kind) noexcept {
        if (kind == Kind::space) {
            append_space(unit);
            state_ = State::space;
            return;
        }
        words_.append(unit);
        digits_ = 1;
        state_ = kind == Kind::letter         ? State::letter
                 : kind == Kind::number       ? State::number
                 : unit.scalar == kApostrophe ? State::apostrophe
                                              : State::one_other;
    }

    Words<Model>& words_;
    std::uint32_t most_digits_;
    State state_ = State::between;
    std::uint32_t digits_ = 0;      // of the number
    std::uint32_t breaks_ = 0;      // characters of the white space up to its last line break
    std::uint32_t last_space_ = 0;  // its last character
    Unit held_{};
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
