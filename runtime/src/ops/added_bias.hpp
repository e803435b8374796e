// SPDX-License-Identifier: Apache-2.0
// What a mask and a bias by relative position make of the scores of a tile, and which keys it sees.
#pragma once

#include "attend.hpp"
#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr float kNotSeen = -0x1p100f;

std::uint32_t least(std::uint32_t x, std::uint32_t y) noexcept {
    return x < y ? x : y;
}

// x - y, 0 where that is negative.
std::uint32_t above(std::uint32_t x, std::uint32_t y) noexcept {
    return x > y ? x - y : 0;
}

// Scores [first, last) of a row are of keys that it does not see.
void hide(float* t, std::uint32_t first, std::uint32_t last) noexcept {
    for (std::uint32_t j = first; j < last; ++j)
        t[j] = kNotSeen;
}

class AddedBias {
  public:
    explicit AddedBias(const ScoreBias& bias) noexcept : bias_(bias) {}

    // From the panel of the first key that the tile's first query sees to the last that its last one does.
    KeyRange keys(const Tile& tile) const noexcept {
        const std::uint32_t first = seen(tile.position, tile.keys).first / kPanelWidth * kPanelWidth;
        const KeyRange of_last = seen(tile.position + tile.count - 1, tile.keys);
        return {first, of_last.first + of_last.count - first};
    }

    template <class... Operands>
    static void add_products(const Operands&...) noexcept {}

    // To the scores t of one row of the tile.
    void add(const HeadShape& shape, const Tile& tile, const KeyRange& range, std::uint32_t row,
             float* t) const noexcept {
        const std::uint32_t position = tile.position + row;
        if (bias_.table != nullptr) {
            const std::size_t of_head = std::size_t{tile.head} * (2 * std::size_t{shape.max_tokens} - 1);
            const float* const of_first_key =
                bias_.table + of_head + (shape.max_tokens - 1 - position + std::size_t{range.first});
            for (std::uint32_t j = 0; j < range.count; ++j)
                t[j] = t[j] + of_first_key[j];
        }
        const KeyRange seen_keys = seen(position, tile.keys);
        const std::uint32_t begin = seen_keys.first - range.first;
        hide(t, 0, begin);
        hide(t, begin + seen_keys.count, range.count);
    }

  private:
    // Those of the `keys` of a text that the query of `position` sees.
    KeyRange seen(std::uint32_t position, std::uint32_t keys) const noexcept {
        if (bias_.mask == AttentionMask::none) return {0, keys};
        if (bias_.mask == AttentionMask::blocks) {
            const std::uint32_t begin = position / bias_.window * bias_.window;
            return {begin, least(begin + bias_.window, keys) - begin};
        }
        const std::uint32_t first = bias_.mask == AttentionMask::causal ? 0 : above(position, bias_.window);
        const std::uint32_t last = bias_.mask == AttentionMask::window ? position + bias_.window : position;
        return {first, least(last + 1, keys) - first};
    }

    const ScoreBias& bias_;
};

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
