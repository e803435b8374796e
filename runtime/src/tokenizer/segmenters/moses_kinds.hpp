// SPDX-License-Identifier: Apache-2.0
// The kinds of a character, of more bits than a class has.
#pragma once

#include <cstdint>

#include "character_classes.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

class MosesKinds {
  public:
    template <class Part>
    explicit MosesKinds(const Part& part) noexcept : classes_(part.classes), kinds_(part.kinds) {}

    std::uint32_t of(std::uint32_t scalar) noexcept { return kinds_[classes_.class_of(scalar)]; }

  private:
    CharacterClassifier classes_;
    const std::uint16_t* kinds_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
