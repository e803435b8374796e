// SPDX-License-Identifier: Apache-2.0
// Words as they are: what comes between two ends.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../segmenter.hpp"
#include "../unicode/utf8.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/models.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Model>
class Segmenter<WordSegmenter, Model> {
  public:
    Segmenter(const WordSegmenter& part, Words<Model>& words) noexcept : part_(part), words_(words) {}

    void take(const Unit& unit) noexcept {
        if (is_between_ && part_.add_prefix_space && unit.scalar != kSpace) {
            words_.append({kSpace, unit.begin, unit.end, 0});
        }
        is_between_ = false;
        words_.append(unit);
    }

    void end() noexcept {
        is_between_ = true;
        if constexpr (std::is_same_v<Model, WordPiece>) {
            if (part_.whole_words) {
                words_.end_whole();
                return;
            }
        }
        words_.end();
    }

    template <class Reader>
    void read_ahead(Reader&, std::string_view, RawSplitter&, const TokenWriter&, std::uint32_t) noexcept {}

  private:
    const WordSegmenter& part_;
    Words<Model>& words_;
    bool is_between_ = true;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
