// SPDX-License-Identifier: Apache-2.0
// No normalizer: characters as they are decoded. Their properties are not looked up: only tokens that are matched in
// normalized text ask for them, and here all are matched in the raw one.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/utf8.hpp"
#include "etch/tokenizer/normalizers.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <>
class Cursor<NoNormalizer> {
  public:
    static constexpr bool kJoins = false;

    Cursor(const NoNormalizer&, std::string_view text, RawSplitter& splitter) noexcept
        : splitter_(&splitter), text_(text), position_(splitter.segment_begin()) {}

    bool next(Unit& unit) noexcept {
        if (!splitter_->contains(position_)) return false;
        const Decoded decoded = decode(text_, position_);
        unit = {decoded.scalar, position_, position_ + decoded.size, 0};
        position_ = unit.end;
        return true;
    }

    bool may_seek() const noexcept { return true; }
    std::uint32_t position() const noexcept { return position_; }
    void seek(std::uint32_t position) noexcept { position_ = position; }

  private:
    RawSplitter* splitter_;
    std::string_view text_;
    std::uint32_t position_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
