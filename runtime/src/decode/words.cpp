// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/words.hpp"

#include "../tokenizer/unicode/utf8.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

std::uint32_t characters_in(std::string_view text, TokenOffset token) noexcept {
    const std::string_view part(text.data() + token.begin, token.end - token.begin);
    std::uint32_t count = 0;
    for (std::uint32_t at = 0; at < part.size(); at += tokenizer::decode(part, at).size)
        ++count;
    return count;
}

bool is_of_template(const Template& parts, std::int32_t id) noexcept {
    for (std::uint32_t i = 0; i < parts.single_count; ++i) {
        if (parts.single[i].id == id) return true;
    }
    return false;
}

bool is_special(const Template& parts, const MarkedTokens& tokens, std::uint32_t i) noexcept {
    return tokens.offsets[i].begin == 0 && tokens.offsets[i].end == 0 && is_of_template(parts, tokens.ids[i]);
}

constexpr std::int32_t kAllKnown = -1;  // as the unknown token where every byte is known

void mark_by_spaces(const Template& parts, std::int32_t unknown, std::string_view text,
                    const MarkedTokens& tokens) noexcept {
    const auto is_space = [&](std::uint32_t at) noexcept { return at < text.size() && text[at] == ' '; };
    for (std::uint32_t i = 0; i < tokens.count; ++i) {
        const std::uint32_t begin = tokens.offsets[i].begin;
        const bool goes_on = begin > 0 && !is_space(begin - 1) && !is_space(begin) && tokens.ids[i] != unknown;
        tokens.marks[i] = is_special(parts, tokens, i) ? TokenMark::special
                          : goes_on                    ? TokenMark::goes_on
                                                       : TokenMark::begins_word;
    }
}

}  // namespace

void mark_words(const WordPiece& model, const Template& parts, const std::uint8_t* characters, std::string_view text,
                const MarkedTokens& tokens) noexcept {
    if (characters == nullptr) return mark_by_spaces(parts, model.unknown_id, text, tokens);
    for (std::uint32_t i = 0; i < tokens.count; ++i) {
        const std::int32_t id = tokens.ids[i];
        const std::uint32_t of_piece = characters[id] & kMostCharacters;
        const bool whole = id == model.unknown_id || of_piece == characters_in(text, tokens.offsets[i]);
        tokens.marks[i] = is_special(parts, tokens, i) ? TokenMark::special
                          : whole                      ? TokenMark::begins_word
                                                       : TokenMark::goes_on;
    }
}

void mark_words(const ByteLevelBpe&, const Template& parts, const std::uint8_t*, std::string_view text,
                const MarkedTokens& tokens) noexcept {
    mark_by_spaces(parts, kAllKnown, text, tokens);
}

void mark_words(const Bytes&, const Template& parts, const std::uint8_t*, std::string_view text,
                const MarkedTokens& tokens) noexcept {
    mark_by_spaces(parts, kAllKnown, text, tokens);
}

void mark_words(const CodePoints&, const Template& parts, const std::uint8_t*, std::string_view text,
                const MarkedTokens& tokens) noexcept {
    mark_by_spaces(parts, kAllKnown, text, tokens);
}

void mark_words(const CharacterBpe& model, const Template& parts, const std::uint8_t*, std::string_view text,
                const MarkedTokens& tokens) noexcept {
    mark_by_spaces(parts, model.unknown_id, text, tokens);
}

void mark_words(const Unigram& model, const Template& parts, const std::uint8_t*, std::string_view text,
                const MarkedTokens& tokens) noexcept {
    mark_by_spaces(parts, model.unknown_id, text, tokens);
}

void mark_ids(const Template& parts, const std::uint8_t* characters, const MarkedTokens& tokens) noexcept {
    for (std::uint32_t i = 0; i < tokens.count; ++i) {
        const std::int32_t id = tokens.ids[i];
        tokens.offsets[i] = {i, i + 1};
        if (is_of_template(parts, id))
            tokens.marks[i] = TokenMark::special;
        else if (characters != nullptr && (characters[id] & kContinuingPiece) != 0)
            tokens.marks[i] = TokenMark::goes_on;
        else
            tokens.marks[i] = TokenMark::begins_word;
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
