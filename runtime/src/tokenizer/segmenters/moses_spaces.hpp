// SPDX-License-Identifier: Apache-2.0
// What Moses' rules do first: spaces between words, and around characters that are a word of their own.
#pragma once

#include <cstdint>

#include "etch/tokenizer/segmenters.hpp"
#include "moses_marks.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// A run of white space is a space, none at the ends; then other control characters of ASCII go.
template <class Next>
class MosesSpaces {
  public:
    template <class... Arguments>
    explicit MosesSpaces(Arguments&... arguments) noexcept : next_(arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (one.has(MosesSegmenter::kWhiteSpace)) {
            if (!is_space_) ++spaces_;
            is_space_ = true;
            return;
        }
        is_space_ = false;
        if (one.unit.scalar < ' ') return;
        for (; has_begun_ && spaces_ != 0; --spaces_)
            next_.put(one.as_space());
        has_begun_ = true;
        spaces_ = 0;
        const bool is_alone = one.has(MosesSegmenter::kAlone);
        if (is_alone) next_.put(one.as_space());
        next_.put(one);
        if (is_alone) next_.put(one.as_space());
    }
    void end() noexcept {
        next_.end();
        is_space_ = has_begun_ = false;
        spaces_ = 0;
    }

  private:
    Next next_;
    std::uint32_t spaces_ = 0;  // before the next character that counts
    bool is_space_ = false;     // white space was read last
    bool has_begun_ = false;    // a character that counts was read
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
