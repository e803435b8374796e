// SPDX-License-Identifier: Apache-2.0
// What SentencePiece's normalization does to white space: at the ends of a text, and where there is more than one.
#pragma once

#include <cstdint>

#include "../cursor.hpp"
#include "../unicode/unicode.hpp"
#include "etch/tokenizer/normalizers.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// The length of a run of which `source`, which stays where it is, has given one; 0 if the text ends with it.
template <class Source, class IsOfRun>
std::uint32_t inner_run(const Source& source, const IsOfRun& is_of_run) noexcept {
    Source ahead = source;
    Unit unit;
    std::uint32_t count = 0;
    do {
        ++count;
        if (!ahead.next(unit)) return 0;
    } while (is_of_run(unit.scalar));
    return count;
}

// A `Source` without the white space at its ends.
template <class Source>
class StripStage {
  public:
    StripStage(StripRule rule, const Source& source) noexcept : source_(source), left_(rule.left), right_(rule.right) {}

    bool next(Unit& unit) noexcept {
        while (source_.next(unit)) {
            if (!left_ && !right_) return true;
            const bool is_space = is_white_space(unit.scalar);
            if (is_space && left_ && !has_begun_) continue;
            has_begun_ = true;
            if (!is_space || !right_) return true;
            if (inner_spaces_ == 0) {
                inner_spaces_ = inner_run(source_, [](std::uint32_t scalar) { return is_white_space(scalar); });
                if (inner_spaces_ == 0) return false;
            }
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
        inner_spaces_ = 0;
    }

  private:
    Source source_;
    bool left_;
    bool right_;
    bool has_begun_ = false;
    std::uint32_t inner_spaces_ = 0;  // so many to come, the one just read included, are not at the end
};

// A `Source` in which a run is one character, with the place of the run's last.
template <class Source>
class RunStage {
  public:
    RunStage(const RunRule& rule, const Source& source) noexcept : source_(source), rule_(rule) {}

    bool next(Unit& unit) noexcept {
        for (;;) {
            if (has_held_) {
                unit = held_;
                has_held_ = false;
            } else if (!source_.next(unit)) {
                return false;
            }
            if (rule_.least == 0 || !is_of_run(unit.scalar)) return true;
            std::uint32_t count = 1;
            for (; source_.next(held_); ++count) {
                has_held_ = !is_of_run(held_.scalar);
                if (has_held_) break;
                unit.begin = held_.begin;
                unit.end = held_.end;
            }
            if (count < rule_.least) return true;
            if (rule_.content == 0) continue;
            unit.scalar = rule_.content;
            return true;
        }
    }

    bool may_seek() const noexcept { return !has_held_ && source_.may_seek(); }
    std::uint32_t position() const noexcept { return source_.position(); }
    void seek(std::uint32_t position) noexcept {
        source_.seek(position);
        has_held_ = false;
    }

  private:
    bool is_of_run(std::uint32_t scalar) const noexcept {
        return rule_.of == RunRule::kWhiteSpace ? is_white_space(scalar) : scalar == rule_.of;
    }

    Source source_;
    RunRule rule_;
    bool has_held_ = false;
    Unit held_{};
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
