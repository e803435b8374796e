// SPDX-License-Identifier: Apache-2.0
// A normal form, what becomes of single characters, then SentencePiece's normalization.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "charsmap_normalizer.hpp"
#include "etch/tokenizer/normalizers.hpp"
#include "folding.hpp"
#include "no_normalizer.hpp"
#include "normal_form.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Cursor<FormCharsmapNormalizer> : public CharsmapStages<FoldingStage<NormalFormStage<Cursor<NoNormalizer>>>> {
  public:
    Cursor(const FormCharsmapNormalizer& settings, std::string_view text, RawSplitter& splitter) noexcept
        : CharsmapStages(settings.rest, {settings.folding, {settings.form, Cursor<NoNormalizer>({}, text, splitter)}}) {
    }
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
