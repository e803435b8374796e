// SPDX-License-Identifier: Apache-2.0
// What becomes of each character by itself, as a stream.
#pragma once

#include <cstdint>

#include "../cursor.hpp"
#include "../unicode/unicode.hpp"
#include "../unicode/utf8.hpp"
#include "etch/tokenizer/normalizers.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Where in `folded` what a character becomes begins; 0: it stays.
inline std::uint32_t folded_at(const Folding& folding, std::uint32_t scalar) noexcept {
    const std::uint32_t middle = folding.top[scalar >> 8] * 16U + (scalar >> 4 & 15);
    return folding.leaves[folding.middle[middle] * 16U + (scalar & 15)];
}

// Canonical order needs no care: it moves marks only, and where characters are decomposed all marks go. Without tables
// all characters stay.
template <class Source>
class FoldingStage {
  public:
    FoldingStage(const Folding& folding, const Source& source) noexcept : folding_(&folding), source_(source) {}

    bool next(Unit& unit) noexcept {
        if (folding_->top == nullptr) return source_.next(unit);
        for (;;) {
            if (text_ != nullptr) {
                const Decoded decoded = decode_known(text_);
                text_ += decoded.size;
                if (*text_ == 0) text_ = nullptr;
                unit = {decoded.scalar, place_.begin, place_.end, 0};
                return true;
            }
            if (given_ < syllable_.count) {
                unit = {syllable_.scalar[given_++], place_.begin, place_.end, 0};
                return true;
            }
            if (!read(unit)) return false;
            if (folding_->decomposes_hangul && is_hangul_syllable(unit.scalar)) {
                syllable_ = hangul_parts(unit.scalar);
                given_ = 0;
            } else {
                const std::uint32_t at = folded_at(*folding_, unit.scalar);
                if (at == 0) return true;
                if (folding_->folded[at] != 0) text_ = folding_->folded + at;
            }
            place_ = unit;
        }
    }

    bool may_seek() const noexcept {
        return text_ == nullptr && given_ == syllable_.count && !has_held_ && source_.may_seek();
    }
    std::uint32_t position() const noexcept { return source_.position(); }
    // A stage behind this one, which has what it read ahead, may seek when this one may not.
    void seek(std::uint32_t position) noexcept {
        source_.seek(position);
        text_ = nullptr;
        given_ = syllable_.count;
        has_held_ = false;
    }

  private:
    // The next character, quotation marks joined.
    bool read(Unit& unit) noexcept {
        if (has_held_) {
            unit = held_;
            has_held_ = false;
        } else if (!source_.next(unit)) {
            return false;
        }
        if (!folding_->joins_quotes || (unit.scalar != '`' && unit.scalar != '\'') || !source_.next(held_)) return true;
        has_held_ = held_.scalar != unit.scalar;
        if (!has_held_) unit = {'"', held_.begin, held_.end, 0};
        return true;
    }

    const Folding* folding_;
    Source source_;
    const std::uint8_t* text_ = nullptr;  // what is left of what a character becomes
    Parts syllable_{};
    std::uint32_t given_ = 0;  // of its parts
    Unit place_{};             // of the character
    bool has_held_ = false;
    Unit held_{};
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
