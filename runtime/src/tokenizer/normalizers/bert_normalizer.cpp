// SPDX-License-Identifier: Apache-2.0
#include "bert_normalizer.hpp"

#include "../unicode/utf8.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

std::uint32_t shifted(std::uint32_t scalar, std::uint32_t delta) noexcept {
    return (scalar & ~0xFFFFU) | ((scalar + delta) & 0xFFFF);
}

}  // namespace

// The next character that clean_text leaves.
bool Cursor<BertNormalizer>::read(std::uint32_t& at, Raw& raw) const noexcept {
    while (splitter_->contains(at)) {
        const Decoded decoded = decode(text_, at);
        raw = {decoded.scalar, at, at + decoded.size, &properties(decoded.scalar)};
        at = raw.end;
        if (!settings_->clean_text) return true;
        if ((raw.properties->flags & Properties::kControl) != 0) continue;
        if ((raw.properties->flags & Properties::kWhiteSpace) != 0) {
            raw.scalar = kSpace;
            raw.properties = &properties(kSpace);
        }
        return true;
    }
    return false;
}

// The next character if it is a mark; `at` stays where it is if not.
bool Cursor<BertNormalizer>::read_mark(std::uint32_t& at, Raw& raw) const noexcept {
    std::uint32_t next = at;
    if (!read(next, raw) || raw.properties->rank == 0) return false;
    at = next;
    return true;
}

Unit Cursor<BertNormalizer>::make_unit(std::uint32_t scalar, Place place) const noexcept {
    const Properties* found = &properties(scalar);
    if (settings_->lowercase && found->lower_delta != 0) {
        scalar = shifted(scalar, found->lower_delta);
        found = &properties(scalar);
    }
    return {scalar, place.begin, place.end, found->flags};
}

bool Cursor<BertNormalizer>::next(Unit& unit) noexcept {
    for (;;) {
        if (pending_next_ < pending_count_) {
            unit = make_unit(pending_[pending_next_++], pending_place_);
            return true;
        }
        if (run_rank_ != 0 && next_of_run(unit)) return true;
        Raw raw;
        if (!read(position_, raw)) return false;
        constexpr std::uint16_t kUnusual =
            Properties::kChinese | Properties::kNonspacing | Properties::kStrips | Properties::kLowerExpands;
        const Properties& found = *raw.properties;
        if ((found.flags & kUnusual) != 0 || found.rank != 0 || is_hangul_syllable(raw.scalar)) {
            pending_next_ = pending_count_ = 0;
            pending_place_ = {raw.begin, raw.end};
            if (expand(raw)) continue;
        }
        if (settings_->lowercase && found.lower_delta != 0) {
            unit = make_unit(raw.scalar, {raw.begin, raw.end});
        } else {
            unit = {raw.scalar, raw.begin, raw.end, found.flags};
        }
        return true;
    }
}

// Handles a character that may not simply be given out; false if it may.
bool Cursor<BertNormalizer>::expand(const Raw& raw) noexcept {
    const std::uint16_t flags = raw.properties->flags;
    const bool is_chinese = (flags & Properties::kChinese) != 0 && settings_->handle_chinese_chars;
    if (is_chinese) push(kSpace);
    if (settings_->strip_accents) {
        if (raw.properties->rank != 0) {
            start_run(raw);
            return true;
        }
        if ((flags & Properties::kNonspacing) != 0) return true;
        if ((flags & Properties::kStrips) != 0) {
            const Parts parts = stripped_parts(raw.scalar);
            push(parts.scalar[0]);
            if (parts.count > 1 && properties(parts.scalar[1]).rank != 0) {
                start_run(raw);
                return true;
            }
            for (std::uint32_t i = 1; i < parts.count; ++i)
                push(parts.scalar[i]);
        } else if (is_hangul_syllable(raw.scalar)) {
            const Parts parts = hangul_parts(raw.scalar);
            for (std::uint32_t i = 0; i < parts.count; ++i)
                push(parts.scalar[i]);
        } else if (is_chinese) {
            push(raw.scalar);
        }
    } else if ((flags & Properties::kLowerExpands) != 0 && settings_->lowercase) {
        for (const std::uint32_t scalar : kLowerExpansion)
            push(scalar);
    } else if (is_chinese) {
        push(raw.scalar);
    }
    if (is_chinese) push(kSpace);
    return pending_count_ != 0;
}

// `first` is a mark, or a starter with marks of its own that are not nonspacing. Skips a run from which nothing comes.
void Cursor<BertNormalizer>::start_run(const Raw& first) noexcept {
    const bool is_mark = first.properties->rank != 0;
    run_begin_ = is_mark ? first.begin : first.end;
    run_starter_ = {first.begin, first.end};
    run_tail_.count = 0;
    if (!is_mark) run_tail_ = stripped_parts(first.scalar);
    run_rank_ = next_rank();
    if (run_rank_ != 0) {
        enter_rank();
        return;
    }
    Raw raw;
    while (read_mark(position_, raw)) {
    }
}

// The lowest rank above the current one that has marks which come out; 0 if there is none.
std::uint8_t Cursor<BertNormalizer>::next_rank() const noexcept {
    constexpr std::uint32_t kNone = 256;
    std::uint32_t lowest = kNone;
    const auto consider = [&](std::uint8_t rank) {
        if (rank > run_rank_ && rank < lowest) lowest = rank;
    };
    for (std::uint32_t i = 1; i < run_tail_.count; ++i)
        consider(properties(run_tail_.scalar[i]).rank);
    std::uint32_t at = run_begin_;
    for (Raw raw; read_mark(at, raw);) {
        if ((raw.properties->flags & Properties::kNonspacing) == 0) consider(raw.properties->rank);
    }
    return static_cast<std::uint8_t>(lowest == kNone ? 0 : lowest);
}

// Sets both readers up for run_rank_: as many places are used up as there are marks of lower ranks.
void Cursor<BertNormalizer>::enter_rank() noexcept {
    run_tail_next_ = 1;
    run_scan_ = run_begin_;
    run_place_at_ = run_begin_;
    run_place_ = run_starter_;
    std::uint32_t at = run_begin_;
    Raw place;
    for (Raw raw; read_mark(at, raw);) {
        if (raw.properties->rank < run_rank_ && read_mark(run_place_at_, place)) run_place_ = {place.begin, place.end};
    }
}

bool Cursor<BertNormalizer>::next_of_run(Unit& unit) noexcept {
    while (run_rank_ != 0) {
        while (run_tail_next_ < run_tail_.count) {
            const std::uint32_t scalar = run_tail_.scalar[run_tail_next_++];
            if (properties(scalar).rank != run_rank_) continue;
            unit = make_unit(scalar, run_place_);
            return true;
        }
        Raw raw;
        Raw place;
        while (read_mark(run_scan_, raw)) {
            if (raw.properties->rank != run_rank_) continue;
            if (read_mark(run_place_at_, place)) run_place_ = {place.begin, place.end};
            if ((raw.properties->flags & Properties::kNonspacing) != 0) continue;
            unit = make_unit(raw.scalar, run_place_);
            return true;
        }
        run_rank_ = next_rank();
        if (run_rank_ != 0) enter_rank();
    }
    position_ = run_scan_;
    return false;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
