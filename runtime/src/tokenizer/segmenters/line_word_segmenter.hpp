// SPDX-License-Identifier: Apache-2.0
// Words between white space, each with the line feed behind it.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../segmenter.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/characters.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Model>
class Segmenter<LineWordSegmenter, Model> {
  public:
    Segmenter(const LineWordSegmenter&, Words<Model>& words) noexcept : words_(words) {}

    void take(const Unit& unit) noexcept {
        constexpr std::uint32_t kLineFeed = 0x0A;
        if (!is_space_character(unit.scalar)) {
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
    Words<Model>& words_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
