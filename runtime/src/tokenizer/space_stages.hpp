// SPDX-License-Identifier: Apache-2.0
// What SentencePiece's normalization does to white space: at the ends of a text, and where there is more than one.
#pragma once

#include <cstdint>

#include "cursor.hpp"
#include "unicode.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// A `Source` without the white space at its ends.
template <class Source>
class StripStage {
  public:
    StripStage(bool left, bool right, const Source& source) noexcept : source_(source), left_(left), right_(right) {}

    bool next(Unit& unit) noexcept {
        while (source_.next(unit)) {
            if (!left_ && !right_) return true;
            const bool is_space = is_white_space(unit.scalar);
            if (is_space && left_ && !has_begun_) continue;
            has_begun_ = true;
            if (!is_space || !right_) return true;
            if (inner_spaces_ == 0 && !count_spaces()) return false;
            --inner_spaces_;
            return true;
        }
        return false;
    }

    bool may_seek() const noexcept { return source_.may_seek() && inner_spaces_ == 0; }
    std::uint32_t position() const noexcept { return source_.position(); }
    void seek(std::uint32_t position) noexcept {
        source_.seek(position);
        has_begun_ = true;
    }

  private:
    // Looks once at a run of white space, of which one has been read. False if the text ends with it.
    bool count_spaces() noexcept {
        Source ahead = source_;
        Unit unit;
        do {
            ++inner_spaces_;
            if (!ahead.next(unit)) {
                inner_spaces_ = 0;
                return false;
            }
        } while (is_white_space(unit.scalar));
        return true;
    }

    Source source_;
    bool left_;
    bool right_;
    bool has_begun_ = false;
    std::uint32_t inner_spaces_ = 0;  // so many to come, the one just read included, are not at the end
};

// A `Source` in which a run of two spaces or more is one character, with the place of the last.
template <class Source>
class RunStage {
  public:
    // `content` is that character, or 0: runs stay.
    RunStage(std::uint32_t content, const Source& source) noexcept : source_(source), content_(content) {}

    bool next(Unit& unit) noexcept {
        if (has_held_) {
            unit = held_;
            has_held_ = false;
        } else if (!source_.next(unit)) {
            return false;
        }
        if (unit.scalar != kSpace || content_ == 0) return true;
        while (source_.next(held_)) {
            if (held_.scalar != kSpace) {
                has_held_ = true;
                break;
            }
            unit = {content_, held_.begin, held_.end, 0};
        }
        return true;
    }

    bool may_seek() const noexcept { return !has_held_ && source_.may_seek(); }
    std::uint32_t position() const noexcept { return source_.position(); }
    void seek(std::uint32_t position) noexcept { source_.seek(position); }

  private:
    static constexpr std::uint32_t kSpace = 0x20;

    Source source_;
    std::uint32_t content_;
    bool has_held_ = false;
    Unit held_{};
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
