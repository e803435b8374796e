// SPDX-License-Identifier: Apache-2.0
// One text to tokens, without the template: split, normalize, pre-tokenize, look up.
#pragma once

#include <cstdint>
#include <new>
#include <string_view>

#include "added_tokens.hpp"
#include "cursor.hpp"
#include "etch/tokenizer.hpp"
#include "models/trie.hpp"
#include "segmenter.hpp"
#include "unicode/unicode.hpp"
#include "unicode/utf8.hpp"
#include "word.hpp"
#include "words.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Tables>
class Encoder {
  public:
    // Stops reading once more than `enough` tokens are certain.
    Encoder(const Tables& tables, std::string_view text, SpecialTokens mode, void* scratch, TokenWriter& out,
            std::uint32_t enough) noexcept
        : tables_(tables),
          text_(text),
          mode_(mode),
          splitter_(tables.raw_tokens, text, mode),
          words_(tables.model, mode, scratch, out),
          segmenter_(tables.segmenter, words_),
          out_(out),
          enough_(enough) {}

    using Reader = Cursor<typename Tables::Normalizer>;

    // At the beginning of a segment of the text.
    Reader reader() noexcept { return Reader(tables_.normalizer, text_, splitter_); }

    void run() noexcept {
        Reader cursor = reader();
        if (read(cursor)) segmenter_.end();  // what it holds is certain, too
    }

    // Goes on from where `cursor` is: true where it stops because there are enough, false at the end of the text.
    bool read(Reader& cursor) noexcept;

    // So many are enough from now on.
    void set_enough(std::uint32_t enough) noexcept { enough_ = enough; }

  private:
    void take_code(Reader& cursor) noexcept;
    bool is_enough() const noexcept { return out_.count > enough_; }
    bool read_segment(Reader& cursor) noexcept;
    void write_token(TokenMatch match) noexcept;

    // Added tokens in normalized text.
    bool match_normalized(Reader& cursor, const Unit& first) noexcept;
    void remember(const Unit& unit) noexcept;

    const Tables& tables_;
    std::string_view text_;
    SpecialTokens mode_;
    RawSplitter splitter_;
    Words<typename Tables::Model> words_;
    Segmenter<typename Tables::Segmenter, typename Tables::Model> segmenter_;
    TokenWriter& out_;
    std::uint32_t enough_;
    bool is_inside_ = true;    // of a segment, else behind it
    bool may_be_code_ = true;  // what the segment begins with has not been looked at

    // Only kept where there are tokens to be matched in normalized text.
    std::uint32_t units_to_pass_ = 0;    // characters of a token that was found but not wanted: no token begins in it
    bool after_word_character_ = false;  // within the segment
    std::uint32_t spaces_before_ = 0;    // white space characters before, in ordinary text since the last token
    std::uint32_t space_begin_ = 0;      // where they begin
    std::uint32_t units_swallowed_ = 0;  // white space ahead that belongs to the last token, though one may begin in it
};

template <class Tables>
bool Encoder<Tables>::read(Reader& cursor) noexcept {
    for (;;) {
        if (is_inside_) {
            if constexpr (kHasCodes<typename Tables::Normalizer>) take_code(cursor);
            if (read_segment(cursor)) return true;
            segmenter_.end();
            is_inside_ = false;
        }
        TokenMatch match;
        if (is_enough()) return true;
        if (!splitter_.take(match)) return false;
        write_token(match);
        new (&cursor) Reader(tables_.normalizer, text_, splitter_);  // no copy on the stack
        units_to_pass_ = units_swallowed_ = spaces_before_ = 0;
        after_word_character_ = false;
        is_inside_ = true;
        may_be_code_ = true;
        if (is_enough()) return true;
    }
}

template <class Tables>
void Encoder<Tables>::write_token(TokenMatch match) noexcept {
    if ((match.flags & AddedTokens::kTrimmed) != 0) {
        // As many characters of the text as there were of white space behind normalization, which may have taken others
        // from among them: what the reference leaves out.
        const bool keeps = (match.flags & AddedTokens::kKeepsFirstSpace) != 0 && match.spaces_before == 1;
        if (keeps && (out_.count == 0 || match.begin == 0)) match.spaces_before = 0;
        for (; match.spaces_before != 0 && match.begin < match.end; --match.spaces_before)
            match.begin += decode(text_, match.begin).size;
        for (; match.spaces_after != 0 && match.begin < match.end; --match.spaces_after)
            match.end -= decode_before(text_, match.end).size;
    }
    words_.write_token(match);
}

// Takes the code that the segment begins with, if it does, and leaves the rest as a segment of its own.
template <class Tables>
void Encoder<Tables>::take_code(Reader& cursor) noexcept {
    const auto is_twice = [this](std::uint32_t at, char c) noexcept {
        return splitter_.contains(at + 1) && text_[at] == c && text_[at + 1] == c;
    };
    if (!may_be_code_ || tables_.normalizer.unknown_code == kNoPiece) return;
    may_be_code_ = false;
    const std::uint32_t begin = splitter_.segment_begin();
    if (!is_twice(begin, '>')) return;
    std::uint32_t end = begin + 2;
    while (!is_twice(end, '<'))
        if (!splitter_.contains(++end)) return;
    end += 2;
    const AddedTokens& codes = tables_.normalizer.codes;
    std::int32_t id = tables_.normalizer.unknown_code;
    if (codes.count != 0) {
        ContentSearch search(codes);
        std::uint32_t at = begin;
        while (at < end && search.step(static_cast<std::uint8_t>(text_[at])))
            ++at;
        if (at == end && search.complete() != kNoToken) id = codes.ids[search.complete()];
    }
    write_token({id, begin, end, 0, 0, 0});
    splitter_.begin_segment(end);
    new (&cursor) Reader(tables_.normalizer, text_, splitter_);
}

// True where there are enough, false at the end of the segment.
template <class Tables>
bool Encoder<Tables>::read_segment(Reader& cursor) noexcept {
    const bool has_normalized_tokens = tables_.normalized_tokens.count != 0;
    Unit unit;
    for (;;) {
        if (!has_normalized_tokens) segmenter_.read_ahead(cursor, text_, splitter_, out_, enough_);
        if (is_enough()) return true;
        if (!cursor.next(unit)) return false;
        if (has_normalized_tokens) {
            if (match_normalized(cursor, unit)) continue;
            remember(unit);
        }
        segmenter_.take(unit);
        if (words_.one_more_is_certain() && out_.count >= enough_) return true;  // its end does not matter
    }
}

// What the rules of tokens ask about the characters before them.
template <class Tables>
void Encoder<Tables>::remember(const Unit& unit) noexcept {
    after_word_character_ = (unit.flags & Properties::kWord) != 0;
    if (units_swallowed_ != 0) {
        --units_swallowed_;
        return;
    }
    if ((unit.flags & Properties::kWhiteSpace) == 0) {
        spaces_before_ = 0;
    } else if (spaces_before_++ == 0) {
        space_begin_ = unit.begin;
    }
}

// Looks for the longest token that begins with `first`, which `cursor` has just given. Writes it and moves the cursor
// behind it, or leaves the cursor where it is. Looking ahead costs a copy of the cursor.
template <class Tables>
bool Encoder<Tables>::match_normalized(Reader& cursor, const Unit& first) noexcept {
    if (units_to_pass_ != 0) {
        --units_to_pass_;
        return false;
    }
    const AddedTokens& tokens = tables_.normalized_tokens;
    std::uint8_t bytes[kMaxUtf8Bytes];
    std::uint32_t size = encode(first.scalar, bytes);
    if (!can_begin(tokens, bytes[0])) return false;

    ContentSearch contents(tokens);
    Reader ahead = cursor;
    Reader behind = cursor;  // the longest match
    std::uint32_t token = kNoToken;
    std::uint32_t token_units = 0;
    Unit last{};
    Unit unit = first;
    for (std::uint32_t units = 1;; ++units) {
        bool goes_on = true;
        for (std::uint32_t i = 0; i < size && goes_on; ++i)
            goes_on = contents.step(bytes[i]);
        if (!goes_on) break;
        if (contents.complete() != kNoToken) {
            token = contents.complete();
            token_units = units;
            last = unit;
            behind = ahead;
        }
        if (!ahead.next(unit)) break;
        size = encode(unit.scalar, bytes);
    }
    if (token == kNoToken) return false;

    const std::uint8_t flags = tokens.flags[token];
    bool wanted = (flags & AddedTokens::kSpecial) == 0 || mode_ == SpecialTokens::recognized;
    if (wanted && (flags & AddedTokens::kSingleWord) != 0) {
        ahead = behind;
        wanted = !after_word_character_ && !(ahead.next(unit) && (unit.flags & Properties::kWord) != 0);
    }
    if (!wanted) {
        units_to_pass_ = token_units - 1;
        return false;
    }
    segmenter_.end();
    TokenMatch match{tokens.ids[token], first.begin, last.end, 0, 0, flags};
    if ((flags & AddedTokens::kLeftStrip) != 0 && spaces_before_ != 0) {
        match.begin = space_begin_;
        match.spaces_before = spaces_before_;
    }
    cursor = behind;
    units_swallowed_ = 0;
    if ((flags & AddedTokens::kRightStrip) != 0) {
        while (behind.next(unit) && (unit.flags & Properties::kWhiteSpace) != 0) {
            match.end = unit.end;
            ++units_swallowed_;
        }
    }
    match.spaces_after = units_swallowed_;
    write_token(match);
    after_word_character_ = (last.flags & Properties::kWord) != 0;
    spaces_before_ = 0;
    return true;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
