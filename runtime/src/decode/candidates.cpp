// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/candidates.hpp"

#include "../kernels/kernel_set.hpp"
#include "../kernels/polynomials.hpp"
#include "../kernels/scalar/math.hpp"
#include "log_sum.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr std::uint32_t kNoMore = 0xFFFFFFFF;  // no row has this number

// The k largest so far: t, largest first, and the entries.
class BestRow {
  public:
    BestRow(const F32Rows& row) noexcept : t_(row.data), entries_(row.data + row.width / 2), k_(row.width / 2) {}

    // Of equal ones the earlier entry stays in front.
    void add(float t, std::uint32_t entry, std::uint32_t held) noexcept {
        if (held == k_ && !(t > t_[k_ - 1])) return;
        std::uint32_t place = held < k_ ? held : k_ - 1;
        for (; place > 0 && t > t_[place - 1]; --place) {
            t_[place] = t_[place - 1];
            entries_[place] = entries_[place - 1];
        }
        t_[place] = t;
        entries_[place] = static_cast<float>(entry);
    }

    // (t, entries) -> (entries, probabilities).
    void finish(const KernelSet& kernels, float sum) noexcept {
        kernels.exp2_row(t_, k_);  // the largest of them is M
        const float inverse = 1.0f / sum;
        for (std::uint32_t i = 0; i < k_; ++i) {
            const float entry = entries_[i];
            entries_[i] = t_[i] * inverse;
            t_[i] = entry;
        }
    }

    std::uint32_t size() const noexcept { return k_; }

  private:
    float* t_;
    float* entries_;
    std::uint32_t k_;
};

}  // namespace

void note_masks(const std::int32_t* ids, const TextRows& text, std::int32_t mask, std::uint32_t* rows) noexcept {
    std::uint32_t* to = rows + text.first;
    for (std::uint32_t row = text.first; row < text.first + text.count; ++row) {
        if (ids[row] == mask) *to++ = row;
    }
    if (to != rows + text.first + text.count) *to = kNoMore;
}

void note_mask(const TextRows& text, std::uint32_t row, std::uint32_t* rows) noexcept {
    rows[text.first] = text.first + row;
    if (text.count > 1) rows[text.first + 1] = kNoMore;
}

MaskRows masks_of(const TextRows& text, const std::uint32_t* rows) noexcept {
    const std::uint32_t* const first = rows + text.first;
    std::uint32_t count = 0;
    while (count < text.count && first[count] != kNoMore)
        ++count;
    return {first, count};
}

void KeepBest::run(const OpContext& context, std::uint32_t first, std::uint32_t last_row) const noexcept {
    for (std::uint32_t row = first; row < last_row; ++row) {
        float* const t = logits.from(row).data;
        float* const sum = sums.from(row).data;
        BestRow kept(best.from(row));
        float largest = t[0] * polynomials::kLog2E;
        for (std::uint32_t i = 0; i < entries.count; ++i) {
            t[i] = t[i] * polynomials::kLog2E;
            largest = t[i] > largest ? t[i] : largest;
            const std::uint32_t entry = entries.first + i;
            kept.add(t[i], entry, entry < kept.size() ? entry : kept.size());
        }
        const bool is_scored = scored != nullptr && row == 0 && scored->id >= 0;
        const std::uint32_t place = is_scored ? static_cast<std::uint32_t>(scored->id) - entries.first : entries.count;
        if (place < entries.count) scored->t = t[place];
        const float powers = context.kernels.exp2_row(t, entries.count);
        if (entries.first == 0) {
            sum[0] = largest;
            sum[1] = powers;
        } else {
            sum[1] = joined_powers(context.kernels, sum[0], sum[1], largest, powers);
            sum[0] = sum[0] > largest ? sum[0] : largest;
        }
        if (last) kept.finish(context.kernels, sum[1]);
        if (last && is_scored)
            scored->log_probability = ((scored->t - sum[0]) - scalar::log2(sum[1])) * polynomials::kLn2;
    }
}

std::uint32_t copy_candidates(const F32Rows& best, std::uint32_t masks, Candidate* candidates, std::uint32_t capacity,
                              std::uint32_t top) noexcept {
    const std::uint32_t k = best.width / 2;
    const std::uint32_t shown = top < k ? top : k;
    for (std::uint32_t mask = 0; mask < masks && mask < capacity; ++mask) {
        const float* const row = best.from(mask).data;
        for (std::uint32_t i = 0; i < shown; ++i)
            candidates[std::size_t{mask} * top + i] = {static_cast<std::int32_t>(row[i]), row[k + i]};
    }
    return shown;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
