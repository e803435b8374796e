// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/pool_rows.hpp"

#include <cstring>

#include "other_counts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

float pooled_value(PooledBy by, float a, float b) noexcept {
    if (by == PooledBy::mean) return (a + b) * 0.5f;
    return a > b ? a : b;
}

}  // namespace

Texts pooled_texts(const RowPooling& pooling, const Texts& texts, TextRows* to) noexcept {
    return with_other_counts(texts, to, [&pooling](std::uint32_t count) { return pooled_count(pooling, count); });
}

Texts on_keys_of(const Texts& texts, const Texts& pooled, TextRows* to) noexcept {
    for (std::uint32_t t = 0; t < texts.count; ++t) {
        to[t] = pooled.texts[t];
        to[t].keys = texts.texts[t].count;
    }
    return {to, texts.count};
}

// No row is written before it was read: the next level's row is never behind the first that it is made of.
void PoolRows::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t begin = first * kPanelWidth;
    const std::uint32_t end = last * kPanelWidth < rows.width ? last * kPanelWidth : rows.width;
    for (std::uint32_t text = 0; text < texts.count; ++text) {
        const TextRows& from = texts.texts[text];
        const TextRows& to = pooled.texts[text];
        const bool whole = to.count == from.count;
        const std::uint32_t paired = from.count - (pooling.apart && pooling.cut ? 1 : 0);  // rows that may be a second
        for (std::uint32_t i = 0; i < to.count; ++i) {
            const std::uint32_t one = whole ? i : first_pooled(pooling, i);
            const bool alone = whole || (pooling.apart && i == 0) || one + 1 >= paired;
            const float* a = rows.from(from.first + one).data;
            const float* b = alone ? nullptr : rows.from(from.first + one + 1).data;
            float* out = rows.from(to.first + i).data;
            for (std::uint32_t c = begin; c < end; ++c)
                out[c] = b == nullptr ? a[c] : pooled_value(pooling.by, a[c], b[c]);
        }
    }
}

void Upsample::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (const TextPart part : TextParts(texts, {first, last - first})) {
        const TextRows& level_rows = pooled.texts[static_cast<std::uint32_t>(&part.text - texts.texts)];
        for (std::uint32_t i = 0; i < part.count; ++i) {
            const std::uint32_t t = part.token + i;
            const std::uint32_t row = pooling.apart && t > 0 ? ((t - 1) >> level) + 1 : t >> level;
            if (row >= level_rows.count) continue;
            const float* x = input.from(level_rows.first + row).data;
            float* y = out.from(first + part.row + i).data;
            for (std::uint32_t c = 0; c < out.width; ++c)
                y[c] = x[c] + y[c];
        }
    }
}

void CopyRows::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    std::memcpy(out.from(first).data, input.from(first).data, sizeof(float) * input.width * (last - first));
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
