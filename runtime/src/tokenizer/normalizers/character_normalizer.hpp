// SPDX-License-Identifier: Apache-2.0
// What becomes of each character by itself, and nothing else.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/unicode.hpp"
#include "../words.hpp"
#include "etch/tokenizer/normalizers.hpp"
#include "folding.hpp"
#include "no_normalizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Cursor<CharacterNormalizer> {
  public:
    Cursor(const CharacterNormalizer& settings, std::string_view text, RawSplitter& splitter) noexcept
        : stage_(settings.folding, Cursor<NoNormalizer>({}, text, splitter)) {}

    bool next(Unit& unit) noexcept {
        if (!stage_.next(unit)) return false;
        unit.flags = properties(unit.scalar).flags;
        return true;
    }

  private:
    FoldingStage<Cursor<NoNormalizer>> stage_;
};

// Nothing is read ahead: letters may become other ones.
template <class Model>
void append_ascii_letters(Words<Model>&, Cursor<CharacterNormalizer>&, std::string_view, RawSplitter&) noexcept {}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
