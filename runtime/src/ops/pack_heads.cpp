// SPDX-License-Identifier: Apache-2.0
// Keys and values of each head, packed at run time as codegen/pack.py packs weights. Per head, keys are a matrix of n =
// tokens outputs and k = head_width inputs: a token fills a row. Values are one of n = head_width and k = tokens: a
// token fills a column. The block that holds the last token writes the zero padding behind it.
#include <cstddef>

#include "../kernels/kernel_set.hpp"
#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

std::size_t packed_index(const std::int8_t*, Packing packing, std::size_t n, std::size_t k,
                         std::size_t inputs) noexcept {
    return packed_s8_index(packing, n, k, inputs);
}

std::size_t packed_index(const float*, Packing packing, std::size_t n, std::size_t k, std::size_t inputs) noexcept {
    return packed_f32_index(packing, n, k, inputs);
}

// Inputs and outputs of a packed matrix with its padding.
std::size_t padded_inputs(const std::int8_t*, Packing packing, std::size_t k) noexcept {
    return round_up(k, packing == Packing::panel ? 4 : 16);
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
    for (std::size_t i = 0; i < count; i += kGroup, group += places.between) {
        const std::size_t used = count - i < kGroup ? count - i : kGroup;
        for (std::size_t j = 0; j < used; ++j)
            group[j * places.within] = values[i + j];
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

// Column k of a packed matrix of `outputs` x `inputs`, without padding.
template <class Value>
void store_column(Packing packing, Value* packed, std::size_t k, std::size_t outputs, std::size_t inputs,
                  const Value* values) noexcept {
    const std::size_t start = packed_index(packed, packing, 0, k, inputs);
    const Places<kPanelWidth> places{start, packed_index(packed, packing, 1, k, inputs) - start,
                                     packed_index(packed, packing, kPanelWidth, k, inputs) - start};
    store(places, values, outputs, packed);
}

template <class Value>
void zero_key_padding(const HeadShape& shape, std::uint32_t tokens, Value* packed) noexcept {
    for (std::size_t n = tokens; n < padded_outputs(shape.packing, tokens); ++n) {
        for (std::size_t k = 0; k < padded_inputs(packed, shape.packing, shape.head_width); ++k) {
            packed[packed_index(packed, shape.packing, n, k, shape.head_width)] = Value{0};
        }
    }
}

template <class Value>
void zero_value_padding(const HeadShape& shape, std::uint32_t tokens, Value* packed) noexcept {
    const std::size_t inputs = padded_inputs(packed, shape.packing, tokens);
    for (std::size_t n = 0; n < padded_outputs(shape.packing, shape.head_width); ++n) {
        for (std::size_t k = n < shape.head_width ? tokens : 0; k < inputs; ++k) {
            packed[packed_index(packed, shape.packing, n, k, tokens)] = Value{0};
        }
    }
}

bool is_last(RowBlock block, std::uint32_t tokens) noexcept {
    return block.first + block.count == tokens;
}

const float* head_of(const F32Rows& rows, std::uint32_t row, const HeadShape& shape, std::uint32_t head) noexcept {
    return rows.data + std::size_t{row} * rows.width + std::size_t{head} * shape.head_width;
}

}  // namespace

void PackKeysS8::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    std::int8_t* q = reinterpret_cast<std::int8_t*>(context.scratch);  // [head_width]
    for (std::uint32_t head = first; head < last; ++head) {
        std::int8_t* packed = out.packed + head * s8_key_bytes(shape);
        float* scales = out.scales + std::size_t{head} * shape.max_tokens;
        for (std::uint32_t row = 0; row < block.count; ++row) {
            const std::uint32_t token = block.first + row;
            scales[token] = context.kernels.quantize_row_s8(head_of(input, row, shape, head), shape.head_width, q);
            store_row(shape.packing, packed, token, shape.head_width, q);
        }
        if (is_last(block, tokens)) zero_key_padding(shape, tokens, packed);
    }
}

void PackValuesS8::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    std::int8_t* q = reinterpret_cast<std::int8_t*>(context.scratch);  // [head_width]
    for (std::uint32_t head = first; head < last; ++head) {
        std::int8_t* packed = out.packed + head * s8_value_bytes(shape);
        float* scales = out.scales + std::size_t{head} * shape.max_tokens;
        for (std::uint32_t row = 0; row < block.count; ++row) {
            const std::uint32_t token = block.first + row;
            scales[token] = context.kernels.quantize_row_s8(head_of(input, row, shape, head), shape.head_width, q);
            store_column(shape.packing, packed, token, shape.head_width, tokens, q);
        }
        if (is_last(block, tokens)) zero_value_padding(shape, tokens, packed);
    }
}

void PackKeysF32::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t head = first; head < last; ++head) {
        float* packed = out.packed + head * f32_key_elements(shape);
        for (std::uint32_t row = 0; row < block.count; ++row) {
            store_row(shape.packing, packed, block.first + row, shape.head_width, head_of(input, row, shape, head));
        }
        if (is_last(block, tokens)) zero_key_padding(shape, tokens, packed);
    }
}

void PackValuesF32::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t head = first; head < last; ++head) {
        float* packed = out.packed + head * f32_value_elements(shape);
        for (std::uint32_t row = 0; row < block.count; ++row) {
            store_column(shape.packing, packed, block.first + row, shape.head_width, tokens,
                         head_of(input, row, shape, head));
        }
        if (is_last(block, tokens)) zero_value_padding(shape, tokens, packed);
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
