// SPDX-License-Identifier: Apache-2.0
// Words to pieces: byte pair encoding over the characters of a word.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/models.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "merging.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Words<CharacterBpe> {
  public:
    Words(const CharacterBpe& model, SpecialTokens mode, void* scratch, TokenWriter& out) noexcept
        : model_(model),
          hidden_(mode == SpecialTokens::plain_text ? CharacterBpe::kSpecialMark : 0),
          barred_(hidden_ | (model.has_unmade ? CharacterBpe::kUnmadeMark : 0)),
          word_(scratch, CharacterBpe::kMostBytes),
          symbols_(static_cast<std::uint8_t*>(scratch) + std::size_t{14} * CharacterBpe::kMostBytes),
          out_(out) {}

    bool empty() const noexcept { return word_.empty(); }
    bool one_more_is_certain() const noexcept { return !word_.empty(); }

    void append(const Unit& unit) noexcept {
        const bool is_space = unit.scalar == MetaspaceSegmenter::kMetaspace;
        if (is_space && !ends_with_space_ && model_.parts_at_spaces) end_part();
        ends_with_space_ = is_space;
        make_room();
        word_.append(unit.scalar, unit.begin, unit.end);
    }
    void append_ascii(std::uint8_t byte, std::uint32_t at) noexcept {
        ends_with_space_ = false;
        make_room();
        word_.append_one_byte(byte, at);
    }

    void end() noexcept {
        end_part();
        is_continued_ = false;
    }

    void write_token(const TokenMatch& match) noexcept {
        out_.begin_word();
        out_.write(match.id, match.begin, match.end);
    }

  private:
    void make_room() noexcept {
        if (word_.size() + kMaxUtf8Bytes <= CharacterBpe::kMostBytes) return;
        end_part();
        out_.cut_word = true;
    }
    void end_part() noexcept {
        if (word_.empty()) return;
        if (!is_continued_) out_.begin_word();
        is_continued_ = true;
        if (!write_whole()) write_pieces();
        word_.clear();
    }
    std::int32_t id(std::uint32_t key) const noexcept;
    std::uint32_t find(std::uint32_t begin, std::uint32_t end) const noexcept;
    std::uint32_t marked(std::uint32_t node, std::uint32_t end) const noexcept;
    std::uint32_t find_named(std::uint32_t begin, std::uint32_t end) const noexcept;
    std::uint32_t mark(std::uint32_t key) const noexcept;
    bool is_piece(std::uint32_t node) const noexcept;
    bool write_whole() noexcept;
    void write_pieces() noexcept;
    void write_unknown(std::uint32_t at, std::uint32_t end, std::uint32_t first, std::uint32_t last) noexcept;
    void rank(std::uint32_t left, std::uint32_t at) noexcept;

    const CharacterBpe& model_;
    std::uint32_t hidden_;  // marks of the pieces that text never becomes,
    std::uint32_t barred_;  // and of those that no pair does
    Word word_;
    Symbols symbols_;
    TokenWriter& out_;
    bool ends_with_space_ = false;  // what was appended last
    bool is_continued_ = false;     // the word's beginning has been written
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
