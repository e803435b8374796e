// SPDX-License-Identifier: Apache-2.0
#include "largest_logits.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Walks through ids of a vocabulary in ascending order, behind `count` tokens.
class MayBeWritten {
  public:
    MayBeWritten(const TargetRules& rules, std::uint32_t count) noexcept
        : rules_(rules), no_ends_(count < rules.least_tokens) {}

    bool operator()(std::uint32_t id) noexcept {
        if (no_ends_ && rules_.is_end(static_cast<std::int32_t>(id))) return false;
        while (next_ != rules_.never_count && static_cast<std::uint32_t>(rules_.never[next_]) < id)
            ++next_;
        return next_ == rules_.never_count || static_cast<std::uint32_t>(rules_.never[next_]) != id;
    }

  private:
    const TargetRules& rules_;
    bool no_ends_;
    std::uint32_t next_ = 0;
};

// The tokens with the largest logits so far, the largest first; scores are logits.
class LargestLogits {
  public:
    LargestLogits(NextToken* tokens, std::uint32_t most, std::uint32_t held) noexcept
        : tokens_(tokens), most_(most), count_(held) {}

    // Whether a token behind all others would be among them.
    bool takes(float logit) const noexcept { return count_ < most_ || logit > tokens_[count_ - 1].score; }

    // One that it takes; of equal ones the earlier token stays in front.
    void add(float logit, std::uint32_t id) noexcept {
        if (count_ < most_) ++count_;
        std::uint32_t place = count_ - 1;
        for (; place > 0 && logit > tokens_[place - 1].score; --place)
            tokens_[place] = tokens_[place - 1];
        tokens_[place] = {logit, static_cast<std::int32_t>(id)};
    }

    std::uint32_t count() const noexcept { return count_; }

  private:
    NextToken* tokens_;
    std::uint32_t most_;
    std::uint32_t count_;
};

}  // namespace

std::uint32_t largest_logits(const KernelSet& kernels, const TargetRules& rules, std::uint32_t count,
                             const RowBlock& entries, const float* logits, std::uint32_t most, NextToken* tokens,
                             std::uint32_t held) noexcept {
    constexpr std::uint32_t kPart = 64;  // few have a logit that is among the largest so far: others are passed by
    MayBeWritten may_be_written(rules, count);
    LargestLogits largest(tokens, most, held);
    for (const RowBlock part : RowBlocks(entries.count, kPart)) {
        if (!largest.takes(kernels.largest_value(logits + part.first, part.count))) continue;
        for (std::uint32_t i = part.first; i < part.first + part.count; ++i) {
            const std::uint32_t id = entries.first + i;
            if (largest.takes(logits[i]) && may_be_written(id)) largest.add(logits[i], id);
        }
    }
    return largest.count();
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
