// SPDX-License-Identifier: Apache-2.0
// Single spaces, what becomes of each character by itself, then SentencePiece's normalization: ALBERT's and RemBERT's.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/utf8.hpp"
#include "charsmap_normalizer.hpp"
#include "etch/tokenizer/normalizers.hpp"
#include "folding.hpp"
#include "no_normalizer.hpp"
#include "space_stages.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Cursor<FoldingNormalizer> : public CharsmapStages<FoldingStage<RunStage<Cursor<NoNormalizer>>>> {
  public:
    Cursor(const FoldingNormalizer& settings, std::string_view text, RawSplitter& splitter) noexcept
        : CharsmapStages(settings.rest, {settings.folding,
                                         {{kSpace, settings.joins_spaces ? 2U : 0U, kSpace},
                                          Cursor<NoNormalizer>({}, text, splitter)}}) {}
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
