// SPDX-License-Identifier: Apache-2.0
// BertNormalizer as a stream: one normalized character at a time, with the bytes of the original it stands for.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/unicode.hpp"
#include "etch/tokenizer/normalizers.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// No memory grows with the text, although strip_accents puts marks into canonical order and their runs have no bound:
//
// Of a run only the marks that are not nonspacing (a few dozen in all of Unicode, of six combining classes) come out.
// Sorting by class, stably, is the same as going over the run once per class and taking its marks as they come; a run
// with none of them, the usual case, is skipped. So the order is exact and the time linear, at most six times over.
//
// The original place of a sorted mark is peculiar to the wheel, which counts instead of following it: the n-th mark
// that comes out of sorting has the place of the n-th that went in. A second reader in step with the first one finds
// it. Only marks split off a starter stay where they were: they have the place of the last mark counted before them.
template <>
class Cursor<BertNormalizer> {
  public:
    Cursor(const BertNormalizer& settings, std::string_view text, RawSplitter& splitter) noexcept
        : settings_(&settings), splitter_(&splitter), text_(text), position_(splitter.segment_begin()) {}

    bool next(Unit& unit) noexcept;

    bool may_seek() const noexcept { return pending_next_ == pending_count_ && run_rank_ == 0; }
    std::uint32_t position() const noexcept { return position_; }
    void seek(std::uint32_t position) noexcept { position_ = position; }
    bool lowercase() const noexcept { return settings_->lowercase; }

  private:
    struct Raw {
        std::uint32_t scalar;
        std::uint32_t begin;
        std::uint32_t end;
        const Properties* properties;
    };
    struct Place {
        std::uint32_t begin;
        std::uint32_t end;
    };

    bool read(std::uint32_t& at, Raw& raw) const noexcept;
    bool read_mark(std::uint32_t& at, Raw& raw) const noexcept;
    Unit make_unit(std::uint32_t scalar, Place place) const noexcept;
    void push(std::uint32_t scalar) noexcept { pending_[pending_count_++] = scalar; }
    bool expand(const Raw& raw) noexcept;
    void start_run(const Raw& first) noexcept;
    std::uint8_t next_rank() const noexcept;
    void enter_rank() noexcept;
    bool next_of_run(Unit& unit) noexcept;

    static constexpr std::uint32_t kMostParts = 3;  // of a syllable, a decomposition, or an ideograph and its spaces

    const BertNormalizer* settings_;
    RawSplitter* splitter_;
    std::string_view text_;
    std::uint32_t position_;

    // What the character just read still has to give.
    std::uint32_t pending_[kMostParts] = {};
    Place pending_place_{};
    std::uint8_t pending_next_ = 0;
    std::uint8_t pending_count_ = 0;

    // The run of marks being put in order.
    std::uint8_t run_rank_ = 0;  // of the marks now coming out; 0 outside a run
    std::uint8_t run_tail_next_ = 0;
    Parts run_tail_{};  // marks split off the starter, at index 1 and after
    Place run_starter_{};
    std::uint32_t run_begin_ = 0;     // of the first mark that is a character of its own
    std::uint32_t run_scan_ = 0;      // reads the marks
    std::uint32_t run_place_at_ = 0;  // reads the places
    Place run_place_{};               // the last one counted
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
