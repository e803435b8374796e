// SPDX-License-Identifier: Apache-2.0
// SentencePiece's normalization as a stream.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/unicode.hpp"
#include "../unicode/utf8.hpp"
#include "charsmap.hpp"
#include "etch/tokenizer/normalizers.hpp"
#include "no_normalizer.hpp"
#include "space_stages.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// The stages of a CharsmapNormalizer over the characters of a `Source`.
template <class Source>
class CharsmapStages {
  public:
    CharsmapStages(const CharsmapNormalizer& settings, const Source& source) noexcept
        : settings_(&settings),
          stages_({kSpace, settings.run_content == 0 ? 0U : 2U, settings.run_content},
                  {{settings.strip_left_after, settings.strip_right_after},
                   {settings, {{settings.strip_left_before, settings.strip_right_before}, source}}}) {}

    bool next(Unit& unit) noexcept {
        if (!stages_.next(unit)) return false;
        unit.flags = properties(unit.scalar).flags;
        return true;
    }

    bool may_seek() const noexcept { return stages_.may_seek(); }
    std::uint32_t position() const noexcept { return stages_.position(); }
    void seek(std::uint32_t position) noexcept { stages_.seek(position); }

    std::uint8_t plain(std::uint8_t byte) const noexcept { return settings_->plain[byte]; }

  private:
    const CharsmapNormalizer* settings_;
    RunStage<StripStage<CharsmapStage<StripStage<Source>>>> stages_;
};

template <>
class Cursor<CharsmapNormalizer> : public CharsmapStages<Cursor<NoNormalizer>> {
  public:
    Cursor(const CharsmapNormalizer& settings, std::string_view text, RawSplitter& splitter) noexcept
        : CharsmapStages(settings, Cursor<NoNormalizer>({}, text, splitter)) {}
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
