// SPDX-License-Identifier: Apache-2.0
// What becomes of each character by itself, then SentencePiece's normalization: ALBERT's.
#pragma once

#include <cstdint>
#include <string_view>

#include "added_tokens.hpp"
#include "charsmap_normalizer.hpp"
#include "cursor.hpp"
#include "etch/tokenizer/normalizers.hpp"
#include "folding.hpp"
#include "no_normalizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Cursor<FoldingNormalizer> : public CharsmapStages<FoldingStage<Cursor<NoNormalizer>>> {
  public:
    Cursor(const FoldingNormalizer& settings, std::string_view text, RawSplitter& splitter) noexcept
        : CharsmapStages(settings.rest, {settings.folding, Cursor<NoNormalizer>({}, text, splitter)}) {}
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
