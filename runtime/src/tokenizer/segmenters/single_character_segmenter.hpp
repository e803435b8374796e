// SPDX-License-Identifier: Apache-2.0
// Each character is a word.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../segmenter.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Model>
class Segmenter<SingleCharacterSegmenter, Model> {
  public:
    Segmenter(const SingleCharacterSegmenter&, Words<Model>& words) noexcept : words_(words) {}

    void take(const Unit& unit) noexcept {
        words_.append(unit);
        words_.end_whole();
    }
    void end() noexcept {}

    template <class Reader>
    void read_ahead(Reader&, std::string_view, RawSplitter&, const TokenWriter&, std::uint32_t) noexcept {}

  private:
    Words<Model>& words_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
