// SPDX-License-Identifier: Apache-2.0
// Steps that files put together: white space, single characters and a normal form, one behind the other.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/unicode.hpp"
#include "etch/tokenizer/normalizers.hpp"
#include "folding.hpp"
#include "no_normalizer.hpp"
#include "normal_form.hpp"
#include "space_stages.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Cursor<SequenceNormalizer> {
  public:
    static constexpr bool kJoins = true;

    Cursor(const SequenceNormalizer& steps, std::string_view text, RawSplitter& splitter) noexcept
        : settings_(&steps), stages_(stages_of(steps, Cursor<NoNormalizer>({}, text, splitter))) {}

    bool next(Unit& unit) noexcept {
        if (!stages_.next(unit)) return false;
        unit.flags = properties(unit.scalar).flags;
        return true;
    }

    bool may_seek() const noexcept { return settings_->letters_stay && stages_.may_seek(); }
    std::uint32_t position() const noexcept { return stages_.position(); }
    void seek(std::uint32_t position) noexcept { stages_.seek(position); }

    std::uint8_t plain(std::uint8_t byte) const noexcept { return settings_->plain[byte]; }

  private:
    using First = FoldingStage<StripStage<Cursor<NoNormalizer>>>;
    using Second = FoldingStage<RunStage<First>>;
    using Third = FoldingStage<NormalFormStage<Second>>;
    using Last = FoldingStage<RunStage<StripStage<Third>>>;

    static StripStage<Last> stages_of(const SequenceNormalizer& steps, const Cursor<NoNormalizer>& text) noexcept {
        const First first(steps.first_folding, {steps.first_strip, text});
        const Second second(steps.second_folding, {steps.first_run, first});
        const Third third(steps.third_folding, {steps.form, second});
        return {steps.last_strip, {steps.last_folding, {steps.second_run, {steps.second_strip, third}}}};
    }

    const SequenceNormalizer* settings_;
    StripStage<Last> stages_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
