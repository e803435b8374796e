// SPDX-License-Identifier: Apache-2.0
// Keys and values of each key head, packed at run time as codegen/pack packs weights. Per head, keys are a matrix of
// n = cache_tokens outputs and k = head_width inputs: a token fills a row. Values are one of n = head_width and k =
// cache_tokens: a token fills a column. Behind the last row that a pass has of a text its panel of keys and its group
// of values' inputs are zero, until more tokens come.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../kernels/compiler.hpp"
#include "../kernels/kernel_set.hpp"
#include "cache_layout.hpp"
#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Inputs and outputs of a packed matrix with its padding.
std::size_t padded_inputs(const std::int8_t*, Packing packing, std::size_t k) noexcept {
    return round_up(k, packing == Packing::panel ? kPanelInputs : kEncodedPadding);
}

std::size_t padded_inputs(const float*, Packing, std::size_t k) noexcept {
    return k;
}

std::size_t padded_outputs(Packing packing, std::size_t n) noexcept {
    return packing == Packing::panel ? round_up(n, kPanelWidth) : n;
}

// Places of a row or a column in a packed matrix: every packing repeats itself after kGroup steps along it.
template <std::size_t kGroup>
struct Places {
    std::size_t start;
    std::size_t within;   // from one place to the next in a group
    std::size_t between;  // from one group to the next
};

template <std::size_t kGroup, class Value>
void store(const Places<kGroup>& places, const Value* values, std::size_t count, Value* packed) noexcept {
    Value* group = packed + places.start;
    const Value* const end = values + count;
    if (places.within == 1) {
        for (; static_cast<std::size_t>(end - values) >= kGroup; values += kGroup, group += places.between)
            std::memcpy(group, values, sizeof(Value) * kGroup);
    }
    while (values != end) {
        const std::size_t left = static_cast<std::size_t>(end - values);
        for (std::size_t j = 0; j < (left < kGroup ? left : kGroup); ++j)
            group[j * places.within] = *values++;
        group += places.between;
    }
}

// Row n of a packed matrix of `inputs` inputs, followed by its padding.
template <class Value>
void store_row(Packing packing, Value* packed, std::size_t n, std::size_t inputs, const Value* values) noexcept {
    const std::size_t start = packed_index(packed, packing, n, 0, inputs);
    const Places<4> places{start, packed_index(packed, packing, n, 1, inputs) - start,
                           packed_index(packed, packing, n, 4, inputs) - start};
    store(places, values, inputs, packed);
    for (std::size_t k = inputs; k < padded_inputs(packed, packing, inputs); ++k) {
        packed[packed_index(packed, packing, n, k, inputs)] = Value{0};
    }
}

// Zeros behind row n of s8 in Packing::rows, whose values lie side by side.
void zero_behind_row(std::int8_t* packed, std::size_t n, std::size_t inputs) noexcept {
    for (std::size_t k = inputs; k < round_up(inputs, kEncodedPadding); ++k)
        packed[packed_s8_index(Packing::rows, n, k, inputs)] = 0;
}

// Column k of a packed matrix of `outputs` x `inputs`, without padding.
template <class Value>
void store_column(Packing packing, Value* packed, std::size_t k, std::size_t outputs, std::size_t inputs,
                  const Value* values) noexcept {
    if (packing == Packing::rows) {  // a place in every row
        Value* to = packed + k;
        const std::size_t stride = padded_inputs(packed, packing, inputs);
        ETCH_UNROLL_BY_4
        for (std::size_t n = 0; n < outputs; ++n, to += stride)
            *to = values[n];
        return;
    }
    const std::size_t start = packed_index(packed, packing, 0, k, inputs);
    const Places<kPanelWidth> places{start, packed_index(packed, packing, 1, k, inputs) - start,
                                     packed_index(packed, packing, kPanelWidth, k, inputs) - start};
    store(places, values, outputs, packed);
}

// Columns k to k + 3 of a packed s8 matrix, k a multiple of 4, from four rows of `outputs` values, one after the other.
// In both packings the four of an output are neighbours.
void store_4_columns(Packing packing, std::int8_t* packed, std::size_t k, std::size_t outputs, std::size_t inputs,
                     const std::int8_t* values) noexcept {
    const std::uint8_t* const bytes = reinterpret_cast<const std::uint8_t*>(values);
    const std::size_t step = packed_s8_index(packing, 1, 0, inputs);  // from one output to the next, within a panel
    for (std::size_t n = 0; n < outputs; n += kPanelWidth) {
        std::int8_t* const panel = packed + packed_s8_index(packing, n, k, inputs);
        const std::size_t used = outputs - n < kPanelWidth ? outputs - n : kPanelWidth;
        for (std::size_t i = 0; i < used; ++i) {
            const std::uint8_t* const first = bytes + n + i;
            const std::uint32_t four = std::uint32_t{first[0]} | std::uint32_t{first[outputs]} << 8 |
                                       std::uint32_t{first[2 * outputs]} << 16 |
                                       std::uint32_t{first[3 * outputs]} << 24;
            std::memcpy(panel + step * i, &four, sizeof four);
        }
    }
}

// The tokens [first, last) of a text that a pass packs, from the part on that has the last of them; before that none.
struct PackedTokens {
    std::size_t first;
    std::size_t last;

    explicit PackedTokens(const TextPart& part) noexcept
        : first(part.text.position),
          last(part.token + part.count == part.text.count ? first + part.text.count : first) {}
};

// Zeroes the keys behind the tokens in their last group, if it begins among them: otherwise who began it did.
template <class Value>
void zero_behind_keys(const HeadShape& shape, const PackedTokens& tokens, Value* packed) noexcept {
    const std::size_t group = key_group(shape.packing);
    const std::size_t end = round_up(tokens.last, group);
    if (round_up(tokens.first, group) == end) return;
    for (std::size_t n = tokens.last; n < end; ++n) {
        for (std::size_t k = 0; k < padded_inputs(packed, shape.packing, shape.head_width); ++k)
            packed[packed_index(packed, shape.packing, n, k, shape.head_width)] = Value{0};
    }
}

// The same for values, and the outputs behind head_width of every group that begins among the tokens.
template <class Value>
void zero_behind_values(const HeadShape& shape, const PackedTokens& tokens, Value* packed) noexcept {
    const std::size_t group = value_group(packed, shape.packing);
    const std::size_t begin = round_up(tokens.first, group);
    const std::size_t end = round_up(tokens.last, group);
    if (begin == end) return;
    for (std::size_t n = 0; n < padded_outputs(shape.packing, shape.head_width); ++n) {
        for (std::size_t k = n < shape.head_width ? tokens.last : begin; k < end; ++k)
            packed[packed_index(packed, shape.packing, n, k, shape.cache_tokens)] = Value{0};
    }
}

// Brings the head of a later row of the block to the cache: the parts of one head lie a row apart, where the hardware
// does not look for them (a fifth of the time of packing 221 rows of 12 heads). Inlined: GCC 12 drops calls of a
// function that only prefetches.
ETCH_INLINE void prefetch_later(const F32Rows& rows, std::uint32_t row, std::uint32_t count, const HeadShape& shape,
                                std::uint32_t head) noexcept {
    constexpr std::uint32_t kAhead = 8;
    if (count - row <= kAhead) return;
    const float* const later = head_of(rows, row + kAhead, shape, head);
    for (std::uint32_t i = 0; i < shape.head_width; i += 16)
        __builtin_prefetch(later + i);
}

}  // namespace

template <>
void PackKeysS8::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    std::int8_t* q = reinterpret_cast<std::int8_t*>(context.scratch);  // [head_width]
    for (std::uint32_t head = first; head < last; ++head) {
        for (const TextPart part : TextParts(texts, block)) {
            std::int8_t* packed = out.packed + s8_key_offset(shape, head, part.text.place);
            float* scales = out.scales + std::size_t{head} * shape.cache_tokens + part.text.place;
            for (std::uint32_t i = 0; i < part.count; ++i) {
                const std::uint32_t row = part.row + i;
                const std::uint32_t token = part.position() + i;
                prefetch_later(input, row, block.count, shape, head);
                const float* values = head_of(input, row, shape, head);
                if (shape.packing == Packing::rows) {
                    std::int8_t* const to = packed + packed_s8_index(Packing::rows, token, 0, shape.head_width);
                    scales[token] = context.kernels.quantize_row_s8(values, shape.head_width, to);
                    zero_behind_row(packed, token, shape.head_width);
                    continue;
                }
                scales[token] = context.kernels.quantize_row_s8(values, shape.head_width, q);
                store_row(shape.packing, packed, token, shape.head_width, q);
            }
            zero_behind_keys(shape, PackedTokens(part), packed);
        }
    }
}

template <>
void PackValuesS8::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    std::int8_t* q = reinterpret_cast<std::int8_t*>(context.scratch);  // [4][head_width]
    for (std::uint32_t head = first; head < last; ++head) {
        for (const TextPart part : TextParts(texts, block)) {
            std::int8_t* packed = out.packed + s8_value_offset(shape, head, part.text.place);
            float* scales = out.scales + std::size_t{head} * shape.cache_tokens + part.text.place;
            std::uint32_t done = 0;
            while (done < part.count) {
                const std::uint32_t token = part.position() + done;
                const std::uint32_t count = token % 4 == 0 && part.count - done >= 4 ? 4 : 1;
                for (std::uint32_t i = 0; i < count; ++i) {
                    const std::uint32_t row = part.row + done + i;
                    prefetch_later(input, row, block.count, shape, head);
                    scales[token + i] = context.kernels.quantize_row_s8(
                        head_of(input, row, shape, head), shape.head_width, q + std::size_t{i} * shape.head_width);
                }
                if (count == 4) {
                    store_4_columns(shape.packing, packed, token, shape.head_width, shape.cache_tokens, q);
                } else {
                    store_column(shape.packing, packed, token, shape.head_width, shape.cache_tokens, q);
                }
                done += count;
            }
            zero_behind_values(shape, PackedTokens(part), packed);
        }
    }
}

template <>
void PackKeysF32::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t head = first; head < last; ++head) {
        for (const TextPart part : TextParts(texts, block)) {
            float* packed = out.packed + f32_key_offset(shape, head, part.text.place);
            for (std::uint32_t i = 0; i < part.count; ++i) {
                store_row(shape.packing, packed, part.position() + i, shape.head_width,
                          head_of(input, part.row + i, shape, head));
            }
            zero_behind_keys(shape, PackedTokens(part), packed);
        }
    }
}

template <>
void PackValuesF32::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t head = first; head < last; ++head) {
        for (const TextPart part : TextParts(texts, block)) {
            float* packed = out.packed + f32_value_offset(shape, head, part.text.place);
            for (std::uint32_t i = 0; i < part.count; ++i) {
                store_column(shape.packing, packed, part.position() + i, shape.head_width, shape.cache_tokens,
                             head_of(input, part.row + i, shape, head));
            }
            zero_behind_values(shape, PackedTokens(part), packed);
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
