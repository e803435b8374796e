// SPDX-License-Identifier: Apache-2.0
// Words to the tokens of their bytes.
#pragma once

#include <cstdint>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/utf8.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/models.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Nothing of a word is held: a character's bytes are written at once, each with the place of the character.
template <>
class Words<Bytes> {
  public:
    Words(const Bytes& model, SpecialTokens, void*, TokenWriter& out) noexcept : model_(model), out_(out) {}

    bool empty() const noexcept { return true; }
    bool one_more_is_certain() const noexcept { return false; }
    void append(const Unit& unit) noexcept {
        std::uint8_t bytes[kMaxUtf8Bytes];
        const std::uint32_t size = encode(unit.scalar, bytes);
        out_.begin_word();
        for (std::uint32_t i = 0; i < size; ++i)
            out_.write(model_.first_id + bytes[i], unit.begin, unit.end);
    }
    void end_whole() noexcept {}

    void write_token(const TokenMatch& match) noexcept {
        out_.begin_word();
        out_.write(match.id, match.begin, match.end);
    }

  private:
    const Bytes& model_;
    TokenWriter& out_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
