// SPDX-License-Identifier: Apache-2.0
// A normal form of the text, and nothing else.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/unicode.hpp"
#include "etch/tokenizer/normalizers.hpp"
#include "no_normalizer.hpp"
#include "normal_form.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Cursor<NormalFormNormalizer> {
  public:
    static constexpr bool kJoins = true;

    Cursor(const NormalFormNormalizer& settings, std::string_view text, RawSplitter& splitter) noexcept
        : stage_(settings.form, Cursor<NoNormalizer>({}, text, splitter)) {}

    bool next(Unit& unit) noexcept {
        if (!stage_.next(unit)) return false;
        unit.flags = properties(unit.scalar).flags;
        return true;
    }

    bool may_seek() const noexcept { return stage_.may_seek(); }
    std::uint32_t position() const noexcept { return stage_.position(); }
    void seek(std::uint32_t position) noexcept { stage_.seek(position); }

    std::uint8_t plain(std::uint8_t byte) const noexcept { return byte >= 0x20U && byte < 0x7FU ? byte : 0; }

  private:
    NormalFormStage<Cursor<NoNormalizer>> stage_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
