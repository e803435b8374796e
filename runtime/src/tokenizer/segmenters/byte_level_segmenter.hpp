// SPDX-License-Identifier: Apache-2.0
// ByteLevel's words: GPT-2's expression, one character at a time.
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

// Only two things need more than the next character: a run of white space leaves its last one to the word behind it,
// and an apostrophe at the beginning of a word may be that of a contraction, which is a word of its own.
template <class Model>
class Segmenter<ByteLevelSegmenter, Model> {
  public:
    Segmenter(const ByteLevelSegmenter& part, Words<Model>& words) noexcept
        : words_(words), add_prefix_space_(part.add_prefix_space) {}

    void take(const Unit& unit) noexcept {
        if (state_ == State::start && add_prefix_space_ && unit.scalar != kSpace) {
            step({kSpace, unit.begin, unit.end, 0}, Kind::space);
        }
        step(unit, kind_of(unit.scalar));
    }

    void end() noexcept {
        if (state_ == State::contraction) words_.end();  // an apostrophe, then a letter
        if (state_ == State::contraction || state_ == State::space) words_.append(held_);
        words_.end();
        state_ = State::start;
    }

    // Reads ASCII letters within a word.
    template <class Reader>
    void read_ahead(Reader& cursor, std::string_view text, RawSplitter& splitter, const TokenWriter&,
                    std::uint32_t) noexcept {
        if (state_ == State::letter) append_ascii_letters(words_, cursor, text, splitter);
    }

  private:
    static constexpr std::uint32_t kApostrophe = 0x27;

    enum class State : std::uint8_t {
        start,        // of the text, or behind an added token
        between,      // nothing is being read
        letter,       // the word is a run of letters,
        number,       // numbers
        other,        // or others, maybe behind a space
        space,        // the word is white space, one more is held back
        apostrophe,   // begins the word
        contraction,  // an apostrophe begins the word, and r, v or l is held back
    };

    void step(const Unit& unit, Kind kind) noexcept {
        switch (state_) {
            case State::letter:
            case State::number:
            case State::other:
                if (state_of(kind) == state_) {
                    words_.append(unit);
                    return;
                }
                words_.end();
                break;
            case State::space:
                if (kind != Kind::space) {
                    words_.end();
                    words_.append(held_);
                    if (held_.scalar == kSpace) {
                        words_.append(unit);
                        state_ = state_of(kind);
                        return;
                    }
                    words_.end();
                    break;
                }
                words_.append(held_);
                held_ = unit;
                return;
            case State::apostrophe:
                if (unit.scalar == 's' || unit.scalar == 't' || unit.scalar == 'm' || unit.scalar == 'd') {
                    words_.append(unit);
                    words_.end();
                    state_ = State::between;
                    return;
                }
                if (unit.scalar == 'r' || unit.scalar == 'v' || unit.scalar == 'l') {
                    held_ = unit;
                    state_ = State::contraction;
                    return;
                }
                state_ = State::other;
                step(unit, kind);
                return;
            case State::contraction:
                if (unit.scalar == (held_.scalar == 'l' ? 'l' : 'e')) {
                    words_.append(held_);
                    words_.append(unit);
                    words_.end();
                    state_ = State::between;
                    return;
                }
                words_.end();
                words_.append(held_);
                state_ = State::letter;
                step(unit, kind);
                return;
            default:
                break;
        }
        begin(unit, kind);
    }

    // The first character of a word.
    void begin(const Unit& unit, Kind kind) noexcept {
        if (kind == Kind::space) {
            held_ = unit;
            state_ = State::space;
            return;
        }
        words_.append(unit);
        state_ = unit.scalar == kApostrophe ? State::apostrophe : state_of(kind);
    }

    static State state_of(Kind kind) noexcept {
        constexpr State kStates[] = {State::other, State::letter, State::number, State::space};
        return kStates[static_cast<std::uint8_t>(kind)];
    }

    Words<Model>& words_;
    bool add_prefix_space_;
    State state_ = State::start;
    Unit held_{};
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
