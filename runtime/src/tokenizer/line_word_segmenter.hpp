// SPDX-License-Identifier: Apache-2.0
// Words between white space, each with the line feed behind it.
#pragma once

#include <cstdint>
#include <string_view>

#include "added_tokens.hpp"
#include "cursor.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "segmenter.hpp"
#include "word.hpp"
#include "words.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Model>
class Segmenter<LineWordSegmenter, Model> {
  public:
    Segmenter(const LineWordSegmenter&, Words<Model>& words) noexcept : words_(words) {}

    void take(const Unit& unit) noexcept {
        constexpr std::uint32_t kLineFeed = 0x0A;
        if (!is_space(unit.scalar)) {
            words_.append(unit);
            return;
        }
        if (unit.scalar == kLineFeed && !words_.empty()) words_.append(unit);
        words_.end();
    }
    void end() noexcept { words_.end(); }

    template <class Reader>
    void read_ahead(Reader&, std::string_view, RawSplitter&, const TokenWriter&, std::uint32_t) noexcept {}

  private:
    // As Python's `str.isspace`.
    static bool is_space(std::uint32_t scalar) noexcept {
        constexpr std::uint32_t kRanges[][2] = {{0x09, 0x0D},     {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                                                {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                                {0x205F, 0x205F}, {0x3000, 0x3000}};
        for (const auto& range : kRanges) {
            if (scalar <= range[1]) return scalar >= range[0];
        }
        return false;
    }

    Words<Model>& words_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
