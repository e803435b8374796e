// SPDX-License-Identifier: Apache-2.0
#include "encoder.hpp"

#include "unicode.hpp"
#include "utf8.hpp"
#include "wordpiece.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

// What the fast path does with an ASCII byte: the letters and digits of a word stand for themselves in lower case.
enum AsciiClass : std::uint8_t { kOther = 0, kSpace = 1, kPunctuation = 2, kFirstWordByte = '0' };

struct AsciiTable {
    std::uint8_t lower[256];  // AsciiClass, or a letter or digit in lower case
};

constexpr AsciiTable make_ascii_table() noexcept {
    AsciiTable table{};
    for (unsigned c = 0x21; c < 0x7F; ++c)
        table.lower[c] = kPunctuation;
    for (unsigned c = '0'; c <= '9'; ++c)
        table.lower[c] = static_cast<std::uint8_t>(c);
    for (unsigned c = 'a'; c <= 'z'; ++c)
        table.lower[c] = table.lower[c - 'a' + 'A'] = static_cast<std::uint8_t>(c);
    table.lower[0x20] = kSpace;
    return table;
}

constexpr AsciiTable kAscii = make_ascii_table();

}  // namespace

void Encoder::run() noexcept {
    for (;;) {
        encode_segment();
        TokenMatch match;
        if (is_enough() || !splitter_.take(match)) return;
        out_.write(match.id, match.begin, match.end);
        if (is_enough()) return;
    }
}

void Encoder::encode_segment() noexcept {
    NormalizedCursor cursor(tables_, text_, splitter_);
    const bool has_normalized_tokens = tables_.normalized_tokens.count != 0;
    units_to_pass_ = units_swallowed_ = 0;
    after_word_character_ = after_space_ = false;
    Unit unit;
    for (;;) {
        if (!has_normalized_tokens && cursor.is_between_characters()) encode_ascii(cursor);
        if (is_enough() || !cursor.next(unit)) break;
        if (has_normalized_tokens) {
            if (match_normalized(cursor, unit)) continue;
            remember(unit);
        }
        encode_unit(unit);
        if (word_.too_long() && out_.count >= enough_) break;  // one more is certain, and its end does not matter
    }
    end_word();
}

void Encoder::encode_unit(const Unit& unit) noexcept {
    if ((unit.flags & Properties::kWhiteSpace) != 0) {
        end_word();
        return;
    }
    const bool is_alone = (unit.flags & Properties::kPunctuation) != 0;
    if (is_alone) end_word();
    word_.append(unit.scalar, unit.begin, unit.end);
    if (is_alone) end_word();
}

void Encoder::end_word() noexcept {
    if (word_.empty()) return;
    write_pieces(tables_, word_, out_);
    word_.clear();
}

// Reads what is plain ASCII, most of most texts, without the machinery: here a byte is a character, normalized alone.
void Encoder::encode_ascii(NormalizedCursor& cursor) noexcept {
    std::uint32_t at = cursor.position();
    const auto byte_at = [this](std::uint32_t i) { return static_cast<std::uint8_t>(text_[i]); };
    while (!is_enough() && splitter_.contains(at)) {
        const std::uint8_t kind = kAscii.lower[byte_at(at)];
        if (kind == kOther) break;
        if (kind == kSpace) {
            end_word();
            ++at;
            continue;
        }
        if (kind == kPunctuation) {
            end_word();
            const std::int32_t id = tables_.max_word_chars == 0 ? kNoPiece : find_character(tables_, byte_at(at));
            out_.write(id == kNoPiece ? tables_.unknown_id : id, at, at + 1);
            ++at;
            continue;
        }
        if (!word_.empty()) {  // a word that began with something else
            word_.append(tables_.lowercase ? kind : byte_at(at), at, at + 1);
            ++at;
            if (word_.too_long() && out_.count >= enough_) break;
            continue;
        }
        const std::uint32_t begin = at;
        const std::uint32_t limit = splitter_.clear();
        const std::uint32_t room = tables_.max_word_chars;
        std::uint8_t* bytes = word_.ascii_room();
        std::uint8_t last = kind;
        while (at < limit && at - begin < room) {
            last = kAscii.lower[byte_at(at)];
            if (last < kFirstWordByte) break;
            bytes[at - begin] = tables_.lowercase ? last : byte_at(at);
            ++at;
        }
        if (at == begin) break;  // no room for a single character
        word_.set_ascii(begin, at - begin);
        if (last == kSpace || last == kPunctuation) end_word();
    }
    cursor.seek(at);
}

// What the rules of tokens ask about the characters before them.
void Encoder::remember(const Unit& unit) noexcept {
    after_word_character_ = (unit.flags & Properties::kWord) != 0;
    if (units_swallowed_ != 0) {
        --units_swallowed_;
        return;
    }
    const bool is_space = (unit.flags & Properties::kWhiteSpace) != 0;
    if (is_space && !after_space_) space_begin_ = unit.begin;
    after_space_ = is_space;
}

// Looks for the longest token that begins with `first`, which `cursor` has just given. Writes it and moves the cursor
// behind it, or leaves the cursor where it is. Looking ahead costs a copy of the cursor.
bool Encoder::match_normalized(NormalizedCursor& cursor, const Unit& first) noexcept {
    if (units_to_pass_ != 0) {
        --units_to_pass_;
        return false;
    }
    const AddedTokens& tokens = tables_.normalized_tokens;
    std::uint8_t bytes[kMaxUtf8Bytes];
    std::uint32_t size = encode(first.scalar, bytes);
    if (!can_begin(tokens, bytes[0])) return false;

    ContentSearch contents(tokens);
    NormalizedCursor ahead = cursor;
    NormalizedCursor behind = cursor;  // the longest match
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
    end_word();
    const std::uint32_t begin = (flags & AddedTokens::kLeftStrip) != 0 && after_space_ ? space_begin_ : first.begin;
    std::uint32_t end = last.end;
    cursor = behind;
    units_swallowed_ = 0;
    if ((flags & AddedTokens::kRightStrip) != 0) {
        while (behind.next(unit) && (unit.flags & Properties::kWhiteSpace) != 0) {
            end = unit.end;
            ++units_swallowed_;
        }
    }
    out_.write(tokens.ids[token], begin, end);
    after_word_character_ = (last.flags & Properties::kWord) != 0;
    after_space_ = false;
    return true;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
