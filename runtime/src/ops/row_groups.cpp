// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/row_groups.hpp"

#include <cstring>

#include "other_counts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// That of `others` which is the same text as one of `texts`.
const TextRows& other_rows(const TextRows& text, const Texts& texts, const Texts& others) noexcept {
    return others.texts[static_cast<std::uint32_t>(&text - texts.texts)];
}

void copy(float* to, const float* from, std::uint32_t count) noexcept {
    std::memcpy(to, from, sizeof(float) * count);
}

void fill(float* to, std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i)
        to[i] = 0.0f;
}

}  // namespace

Texts grouped_texts(std::uint32_t rate, const Texts& texts, TextRows* to) noexcept {
    return with_other_counts(texts, to, [rate](std::uint32_t count) { return grouped_count(rate, count); });
}

void GroupRows::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (const TextPart part : TextParts(grouped, {block.first + first, last - first})) {
        const TextRows& tokens = other_rows(part.text, grouped, texts);
        for (std::uint32_t n = 0; n < part.count; ++n) {
            const std::uint32_t group = part.token + n;
            float* const y = out.from(first + part.row + n).data;
            if (group == 0)
                fill(y, out.width);
            else
                copy(y, input.from(tokens.first + rate * (group - 1)).data, out.width);
        }
    }
}

void FirstRow::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (const TextPart part : TextParts(grouped, {block.first + first, last - first})) {
        if (part.token > 0) continue;
        const TextRows& tokens = other_rows(part.text, grouped, texts);
        copy(out.from(first + part.row).data, input.from(tokens.first).data, out.width);
    }
}

void SpreadRows::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t width = input.width + groups.width;
    for (const TextPart part : TextParts(texts, {block.first + first, last - first})) {
        const TextRows& of_text = other_rows(part.text, texts, grouped);
        for (std::uint32_t n = 0; n < part.count; ++n) {
            float* y = out.from(first + part.row + n).data;
            for (std::uint32_t tap = 0; tap < taps; ++tap, y += width) {
                const std::uint32_t token = part.token + n + tap;  // and `before` more
                if (token < before || token - before >= part.text.count) {
                    fill(y, width);
                    continue;
                }
                const std::uint32_t group = (token - before) / rate + 1;
                const std::uint32_t row = group < of_text.count ? group : of_text.count - 1;
                copy(y, input.from(part.text.first + token - before).data, input.width);
                copy(y + input.width, groups.from(of_text.first + row).data, groups.width);
            }
        }
    }
}

void RowOfToken::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (const TextPart part : TextParts(texts, {block.first + first, last - first})) {
        const std::uint32_t up_to = rows_up_to(id, part.text, ids);
        const bool there = ids[part.text.first + up_to - 1] == id;
        const float* const x = input.from(part.text.first + (there ? up_to - 1 : 0)).data;
        for (std::uint32_t n = 0; n < part.count; ++n)
            copy(out.from(first + part.row + n).data, x, out.width);
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
