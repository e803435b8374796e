// SPDX-License-Identifier: Apache-2.0
// Words to the code points of their characters.
#pragma once

#include <cstdint>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/models.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Nothing of a word is held.
template <>
class Words<CodePoints> {
  public:
    Words(const CodePoints&, SpecialTokens, void*, TokenWriter& out) noexcept : out_(out) {}

    bool empty() const noexcept { return true; }
    bool one_more_is_certain() const noexcept { return false; }
    void append(const Unit& unit) noexcept {
        out_.begin_word();
        out_.write(static_cast<std::int32_t>(unit.scalar), unit.begin, unit.end);
    }
    void end_whole() noexcept {}

    void write_token(const TokenMatch& match) noexcept {
        out_.begin_word();
        out_.write(match.id, match.begin, match.end);
    }

  private:
    TokenWriter& out_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
