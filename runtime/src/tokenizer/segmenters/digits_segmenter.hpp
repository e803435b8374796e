// SPDX-License-Identifier: Apache-2.0
// ByteLevel's words of a text that falls apart at its digits first.
#pragma once

#include <cstdint>
#include <string_view>

#include "byte_level_segmenter.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Model>
class Segmenter<DigitsSegmenter, Model> {
  public:
    Segmenter(const DigitsSegmenter& part, Words<Model>& words) noexcept
        : segmenter_({part.add_prefix_space}, words), individual_(part.individual) {}

    void take(const Unit& unit) noexcept {
        const bool is_digit = is_numeric(unit.scalar);
        if (is_digit != behind_digit_ || (is_digit && individual_)) segmenter_.end();
        behind_digit_ = is_digit;
        segmenter_.take(unit);
    }

    void end() noexcept {
        segmenter_.end();
        behind_digit_ = false;
    }

    template <class Reader>
    void read_ahead(Reader& cursor, std::string_view text, RawSplitter& splitter, const TokenWriter& out,
                    std::uint32_t enough) noexcept {
        segmenter_.read_ahead(cursor, text, splitter, out, enough);
    }

  private:
    // Digits goes by a later version of Unicode than the expressions.
    static bool is_numeric(std::uint32_t scalar) noexcept {
        return kind_of(scalar) == Kind::number || scalar - 0x11DE0U < 10 || scalar - 0x16FF4U < 3;
    }

    Segmenter<ByteLevelSegmenter, Model> segmenter_;
    bool individual_;
    bool behind_digit_ = false;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
