// SPDX-License-Identifier: Apache-2.0
// Words to pieces: byte pair encoding over the bytes of a word.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/models.hpp"
#include "merging.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Words<ByteLevelBpe> {
  public:
    Words(const ByteLevelBpe& model, SpecialTokens, void* scratch, TokenWriter& out) noexcept
        : model_(model),
          word_(scratch, ByteLevelBpe::kMostBytes),
          symbols_(static_cast<std::uint8_t*>(scratch) + std::size_t{14} * ByteLevelBpe::kMostBytes),
          out_(out) {}

    bool empty() const noexcept { return word_.empty(); }
    bool one_more_is_certain() const noexcept { return !word_.empty(); }
    void append(const Unit& unit) noexcept {
        if (word_.size() + kMaxUtf8Bytes > ByteLevelBpe::kMostBytes) {
            end();
            out_.cut_word = is_continued_ = true;
        }
        if (word_.continues_ascii(unit.scalar, unit.begin) && unit.end == unit.begin + 1) {
            word_.append_ascii(unit.scalar, unit.begin);
        } else {
            word_.append(unit.scalar, unit.begin, unit.end);
        }
    }
    void end() noexcept {
        if (word_.empty()) return;
        write_word();
        word_.clear();
    }

    // For a segmenter that finds out behind a word where it should have ended.
    std::uint32_t chars() const noexcept { return word_.chars(); }
    std::uint32_t scalar(std::uint32_t i) const noexcept { return word_.scalar(i); }
    void end_front(std::uint32_t chars) noexcept {
        const Word::Rest whole = word_.cut(chars);
        write_word();
        word_.go_on_with(whole);
    }

    void write_token(const TokenMatch& match) noexcept {
        out_.begin_word();
        out_.write(match.id, match.begin, match.end);
    }

  private:
    void write_word() noexcept {
        if (!is_continued_) out_.begin_word();
        is_continued_ = false;
        if (!write_whole()) write_pieces();
    }
    bool write_whole() noexcept;
    void write_pieces() noexcept;
    std::uint32_t at_end_of_word(std::uint32_t node) const noexcept;
    void rank(std::uint32_t left, std::uint32_t at) noexcept;
    void write(std::uint32_t node, std::uint32_t at, std::uint32_t end, std::uint32_t& first) noexcept;

    const ByteLevelBpe& model_;
    Word word_;
    Symbols symbols_;
    TokenWriter& out_;
    bool is_continued_ = false;  // the word's beginning has been written
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
