// SPDX-License-Identifier: Apache-2.0
// Moses' rules for dashes, commas and apostrophes. The reference replaces them in the whole text by one expression
// after the other; here each is a stage that holds what its expression may still match.
#pragma once

#include <cstdint>

#include "etch/tokenizer/segmenters.hpp"
#include "moses_marks.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// What stands beside a character: anything, one of these kinds or none of them, or the end of the text.
struct MosesSide {
    enum class What : std::uint8_t { anything, one_of, none_of, end };

    What what;
    std::uint32_t kinds;

    bool takes(const MosesCharacter& one) const noexcept {
        return what == What::one_of ? one.has(kinds) : what == What::none_of && !one.has(kinds);
    }
};

// Puts spaces around a character between two others. Like those of an expression, its finds do not overlap; what
// follows a dash is only looked at.
struct MosesRule {
    MosesSide before;
    char at;
    MosesSide behind;
    bool space_before = true;
    bool space_behind = true;
};

constexpr MosesSide of_kind(std::uint32_t kinds) noexcept {
    return {MosesSide::What::one_of, kinds};
}
constexpr MosesSide other_than(std::uint32_t kinds) noexcept {
    return {MosesSide::What::none_of, kinds};
}
constexpr MosesSide kAnySide{MosesSide::What::anything, 0};
constexpr MosesSide kAtEnd{MosesSide::What::end, 0};

// In their order, which counts. That of dashes is the first one.
constexpr std::uint32_t kMosesLetter = MosesSegmenter::kLetter;
constexpr std::uint32_t kMosesNumber = MosesSegmenter::kNumber;
constexpr MosesRule kDashRule{of_kind(MosesSegmenter::kAlphanumeric), '-', of_kind(MosesSegmenter::kAlphanumeric)};
constexpr MosesRule kCommaRules[] = {
    {other_than(kMosesNumber), ',', kAnySide},
    {kAnySide, ',', other_than(kMosesNumber)},
    {of_kind(kMosesNumber), ',', kAtEnd},
};
struct EnglishMosesRules {
    static constexpr MosesRule kRules[] = {
        kDashRule,
        kCommaRules[0],
        kCommaRules[1],
        kCommaRules[2],
        {other_than(kMosesLetter), '\'', other_than(kMosesLetter)},
        {other_than(kMosesLetter | kMosesNumber), '\'', of_kind(kMosesLetter)},
        {of_kind(kMosesLetter), '\'', other_than(kMosesLetter)},
        {of_kind(kMosesLetter), '\'', of_kind(kMosesLetter), true, false},
        {of_kind(kMosesNumber), '\'', of_kind(MosesSegmenter::kPossessive), true, false},
    };
};
struct FrenchMosesRules {
    static constexpr MosesRule kRules[] = {
        kDashRule,
        kCommaRules[0],
        kCommaRules[1],
        kCommaRules[2],
        {other_than(kMosesLetter), '\'', other_than(kMosesLetter)},
        {other_than(kMosesLetter), '\'', of_kind(kMosesLetter)},
        {of_kind(kMosesLetter), '\'', other_than(kMosesLetter)},
        {of_kind(kMosesLetter), '\'', of_kind(kMosesLetter), false, true},
    };
};

// Of languages that have no rules of their own.
struct CommonMosesRules {
    static constexpr MosesRule kRules[] = {
        kDashRule, kCommaRules[0], kCommaRules[1], kCommaRules[2], {kAnySide, '\'', kAnySide},
    };
};

template <class Rules, std::uint32_t kFirst, class Next>
class MosesRules {
  public:
    template <class... Arguments>
    explicit MosesRules(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        for (;;) {
            if (has_at_) {
                has_at_ = false;
                if (kRule.behind.takes(one)) {
                    write_found();
                    if (kRule.at == '-') continue;
                    next_.put(one);
                    return;
                }
                leave_before();
                hold(at());  // it may be what stands before the next one
                continue;
            }
            if (!one.is(kRule.at) || !(has_before_ || kRule.before.what == MosesSide::What::anything)) {
                leave_before();
                hold(one);
                return;
            }
            begin_ = one.unit.begin;
            end_ = one.unit.end;
            if (kRule.behind.what == MosesSide::What::anything) {
                write_found();
            } else {
                has_at_ = true;
            }
            return;
        }
    }
    void end() noexcept {
        if (has_at_ && kRule.behind.what == MosesSide::What::end) {
            write_found();
        } else {
            leave_before();
            if (has_at_) next_.put(at());
        }
        has_at_ = false;
        next_.end();
    }

  private:
    static constexpr const MosesRule& kRule = Rules::kRules[kFirst];

    // The character of the rule, which is of no kind that a rule asks for.
    MosesCharacter at() const noexcept { return {{static_cast<std::uint8_t>(kRule.at), begin_, end_, 0}, 0}; }
    void hold(const MosesCharacter& one) noexcept {
        if (kRule.before.takes(one)) {
            before_ = one;
            has_before_ = true;
        } else {
            next_.put(one);
        }
    }
    void leave_before() noexcept {
        if (has_before_) next_.put(before_);
        has_before_ = false;
    }
    void write_found() noexcept {
        leave_before();
        const MosesCharacter mark = at();
        if (kRule.space_before) next_.put(mark.as_space());
        if (kRule.at == '-') next_.put(mark.as('@', 0));
        next_.put(mark);
        if (kRule.at == '-') next_.put(mark.as('@', 0));
        if (kRule.space_behind) next_.put(mark.as_space());
    }

    Next next_;
    MosesCharacter before_{};
    std::uint32_t begin_ = 0;  // of the character of the rule
    std::uint32_t end_ = 0;
    bool has_before_ = false;
    bool has_at_ = false;
};

// All of them from the first one on, then what comes behind.
template <class Rules, std::uint32_t kFirst, class Last,
          bool kIsBehind = kFirst == sizeof Rules::kRules / sizeof(MosesRule)>
struct MosesRulesFrom {
    using Type = MosesRules<Rules, kFirst, typename MosesRulesFrom<Rules, kFirst + 1, Last>::Type>;
};
template <class Rules, std::uint32_t kFirst, class Last>
struct MosesRulesFrom<Rules, kFirst, Last, true> {
    using Type = Last;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
