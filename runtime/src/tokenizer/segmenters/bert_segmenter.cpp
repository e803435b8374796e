// SPDX-License-Identifier: Apache-2.0
#include "bert_segmenter.hpp"

#include "../bytes16.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

// What the fast path does with an ASCII byte: the letters and digits of a word stand for themselves in lower case.
enum AsciiClass : std::uint8_t { kOtherByte = 0, kSpaceByte = 1, kPunctuationByte = 2, kFirstWordByte = '0' };

struct AsciiTable {
    std::uint8_t lower[256];  // AsciiClass, or a letter or digit in lower case
};

constexpr AsciiTable make_ascii_table() noexcept {
    AsciiTable table{};
    for (unsigned c = 0x21; c < 0x7F; ++c)
        table.lower[c] = kPunctuationByte;
    for (unsigned c = '0'; c <= '9'; ++c)
        table.lower[c] = static_cast<std::uint8_t>(c);
    for (unsigned c = 'a'; c <= 'z'; ++c)
        table.lower[c] = table.lower[c - 'a' + 'A'] = static_cast<std::uint8_t>(c);
    table.lower[0x20] = kSpaceByte;
    return table;
}

constexpr AsciiTable kAscii = make_ascii_table();

#if defined(__SSE2__)

// How many letters and digits a text of at least 16 bytes begins with, 16 where they may go on. Their bytes, in lower
// case where asked for, and those behind them are written.
std::uint32_t read_run(const char* text, bool lowercase, std::uint8_t* bytes) noexcept {
    const Bytes16 next(text);
    const Bytes16 lower = next.lower_case();
    (lowercase ? lower : next).store(bytes);
    const std::uint32_t others = ~(lower.between('a', 'z') | next.between('0', '9'));
    return static_cast<std::uint32_t>(__builtin_ctz(others));  // bits 16 to 31 are set
}

bool ends_word(char next) noexcept {
    const std::uint8_t kind = kAscii.lower[static_cast<std::uint8_t>(next)];
    return kind == kSpaceByte || kind == kPunctuationByte;
}

// Most words are short, end at a byte that says so, and are pieces: writes one, or two with a space between them, which
// are no more pieces than most_pieces() has room for. How much of the text that is; 0 where it begins otherwise. The
// text, of which `at` is the place, goes on for more than 2 * kShortWord bytes.
std::uint32_t read_short_words(Words<WordPiece>& words, const char* text, std::uint32_t at, bool lowercase) noexcept {
    std::uint8_t first[kShortWord];
    std::uint8_t second[kShortWord];
    const std::uint32_t size = read_run(text, lowercase, first);
    if (size == kShortWord || !ends_word(text[size])) return 0;
    const std::uint32_t space = text[size] == ' ' ? 1 : 0;
    const std::uint32_t begin = size + space;
    const std::uint32_t second_size = read_run(text + begin, lowercase, second);
    if (space == 0 || second_size == 0 || second_size == kShortWord || !ends_word(text[begin + second_size])) {
        words.write_short(first, words.find(first, size), at, at + size);
        return size;
    }
    const TwoNodes nodes = words.find_two(first, size, second, second_size);
    words.write_short(first, nodes.first, at, at + size);
    words.write_short(second, nodes.second, at + begin, at + begin + second_size);
    return begin + second_size;
}

#endif

}  // namespace

void Segmenter<BertSegmenter, WordPiece>::read_ahead(Cursor<BertNormalizer>& cursor, std::string_view text,
                                                     RawSplitter& splitter, const TokenWriter& out,
                                                     std::uint32_t enough) noexcept {
    if (!cursor.may_seek()) return;
    Word& word = words_.word();
    const bool lowercase = cursor.lowercase();
    const std::uint32_t room = words_.max_chars();
    std::uint32_t at = cursor.position();
    const auto byte_at = [text](std::uint32_t i) { return static_cast<std::uint8_t>(text[i]); };
    while (out.count <= enough && splitter.contains(at)) {
        const std::uint8_t kind = kAscii.lower[byte_at(at)];
        if (kind == kOtherByte) break;
        if (kind == kSpaceByte) {
            words_.end();
            ++at;
            continue;
        }
        if (kind == kPunctuationByte) {
            words_.end();
            words_.write_character(byte_at(at), at);
            ++at;
            continue;
        }
        if (!word.empty()) {  // a word that began with something else
            word.append(lowercase ? kind : byte_at(at), at, at + 1);
            ++at;
            if (word.too_long() && out.count >= enough) break;
            continue;
        }
        const std::uint32_t begin = at;
        const std::uint32_t limit = splitter.clear();
#if defined(__SSE2__)
        if (limit - at > 2 * kShortWord && room >= kShortWord) {
            const std::uint32_t taken = read_short_words(words_, text.data() + at, at, lowercase);
            at += taken;
            if (taken != 0) continue;
        }
#endif
        std::uint8_t* bytes = word.ascii_room();
        std::uint8_t last = kind;
#if defined(__SSE2__)
        // Letters and digits run by run; the loop behind it has what is left of the text, of the segment, of the room.
        while (text.size() - at >= 16 && room - (at - begin) >= 16) {
            const std::uint32_t count = read_run(text.data() + at, lowercase, bytes + (at - begin));
            at += count;
            if (count < 16) break;
        }
        if (at > limit) at = limit;
#endif
        while (at < limit && at - begin < room) {
            last = kAscii.lower[byte_at(at)];
            if (last < kFirstWordByte) break;
            bytes[at - begin] = lowercase ? last : byte_at(at);
            ++at;
        }
        if (at == begin) break;  // no room for a single character
        word.set_ascii(begin, at - begin);
        if (last == kSpaceByte || last == kPunctuationByte) words_.end();
    }
    cursor.seek(at);
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
