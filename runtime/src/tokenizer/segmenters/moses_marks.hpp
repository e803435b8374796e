// SPDX-License-Identifier: Apache-2.0
// What Moses' rules hand from one to the next, and runs of periods, which the rules in between see as a word of
// letters.
#pragma once

#include <cstdint>

#include "../cursor.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

struct MosesCharacter {
    Unit unit;
    std::uint32_t kinds;  // bits of MosesSegmenter

    bool is(char c) const noexcept { return unit.scalar == static_cast<std::uint32_t>(c); }
    bool has(std::uint32_t kind) const noexcept { return (kinds & kind) != 0; }
    // Another character that stands for the same bytes.
    MosesCharacter as(std::uint32_t scalar, std::uint32_t kind) const noexcept {
        return {{scalar, unit.begin, unit.end, 0}, kind};
    }
    MosesCharacter as_space() const noexcept { return as(' ', MosesSegmenter::kWhiteSpace); }
};

// A character that a stage holds until it sees what follows.
class HeldMosesCharacter {
  public:
    bool is_there() const noexcept { return is_there_; }
    const MosesCharacter& one() const noexcept { return one_; }
    void hold(const MosesCharacter& one) noexcept {
        one_ = one;
        is_there_ = true;
    }
    // Up to the end of `last`, with which it makes another one; it stays.
    const MosesCharacter& through(const MosesCharacter& last) noexcept {
        one_.unit.end = last.unit.end;
        return one_;
    }
    MosesCharacter take() noexcept {
        is_there_ = false;
        return one_;
    }
    // As it is, where it is there.
    template <class Next>
    void leave(Next& next) noexcept {
        if (is_there_) next.put(take());
    }

  private:
    MosesCharacter one_{};
    bool is_there_ = false;
};

constexpr std::uint32_t kNoBreakSpace = 0xA0;
// No scalar: a period of a run of them.
constexpr std::uint32_t kRunPeriod = 0x110000;

// Two periods or more are a word.
template <class Next>
class MosesRuns {
  public:
    template <class... Arguments>
    explicit MosesRuns(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (!one.is('.')) {
            held_.leave(next_);
            if (is_run_) next_.put(one.as_space());
            is_run_ = false;
            next_.put(one);
        } else if (is_run_) {
            next_.put(in_run(one));
        } else if (held_.is_there()) {
            const MosesCharacter first = held_.take();
            is_run_ = true;
            next_.put(first.as_space());
            next_.put(in_run(first));
            next_.put(in_run(one));
        } else {
            held_.hold(one);
        }
    }
    void end() noexcept {
        held_.leave(next_);
        is_run_ = false;
        next_.end();
    }

  private:
    static MosesCharacter in_run(const MosesCharacter& period) noexcept {
        return period.as(kRunPeriod, MosesSegmenter::kAlphanumeric | MosesSegmenter::kLetter);
    }

    Next next_;
    HeldMosesCharacter held_;  // a period that may begin a run
    bool is_run_ = false;
};

// The periods of runs, and of what a text has in their place: the reference writes a run as (DOT)+MULTI, and back.
template <class Next>
class MosesRestoredRuns {
  public:
    template <class... Arguments>
    explicit MosesRestoredRuns(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (passes(one)) return;
        leave();
        if (passes(one)) return;
        if (one.unit.scalar == kRunPeriod) {
            next_.put(one.as('.', 0));
        } else {
            next_.put(one);
        }
    }
    void end() noexcept {
        leave();
        next_.end();
    }

  private:
    static constexpr char kPeriod[] = "DOT";
    static constexpr char kEnd[] = "MULTI";
    static constexpr std::uint32_t kPeriodSize = sizeof kPeriod - 1;
    static constexpr std::uint32_t kEndSize = sizeof kEnd - 1;

    // Whether the mark goes on with it, or begins.
    bool passes(const MosesCharacter& one) noexcept {
        if (of_end_ == 0 && one.is(kPeriod[of_period_])) {
            take(one);
            if (++of_period_ == kPeriodSize) {
                of_period_ = 0;
                ++periods_;
            }
            return true;
        }
        if (periods_ == 0 || of_period_ != 0 || !one.is(kEnd[of_end_])) return false;
        take(one);
        if (++of_end_ < kEndSize) return true;
        for (; periods_ != 0; --periods_)
            next_.put(all_.as('.', 0));
        of_end_ = 0;
        return true;
    }
    void take(const MosesCharacter& one) noexcept {
        if (periods_ == 0 && of_period_ == 0) all_ = one;
        all_.unit.end = one.unit.end;
    }
    // It was none: what is held is text.
    void leave() noexcept {
        const std::uint32_t held = periods_ * kPeriodSize + of_period_ + of_end_;
        const bool is_whole = all_.unit.end - all_.unit.begin == held;  // else characters that say nothing lie between
        for (std::uint32_t i = 0; i < held; ++i) {
            const std::uint32_t of_end = i + of_end_ - held;  // where it is one of those
            const char c = i + of_end_ < held ? kPeriod[i % kPeriodSize] : kEnd[of_end];
            MosesCharacter one = all_.as(static_cast<std::uint8_t>(c), 0);
            if (is_whole) {
                one.unit.begin += i;
                one.unit.end = one.unit.begin + 1;
            }
            next_.put(one);
        }
        periods_ = of_period_ = of_end_ = 0;
    }

    Next next_;
    MosesCharacter all_{};         // of what is held
    std::uint32_t periods_ = 0;    // whole ones,
    std::uint32_t of_period_ = 0;  // characters of another one,
    std::uint32_t of_end_ = 0;     // and of the end
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
