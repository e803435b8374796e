// SPDX-License-Identifier: Apache-2.0
// A walk through the double array of Darts-clone in which SentencePiece compiles its maps of characters
// (github.com/s-yata/darts-clone, darts.h). The generator has checked that every unit that it may reach is there.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

class CharsmapSearch {
  public:
    explicit CharsmapSearch(const std::uint32_t* units) noexcept : units_(units), at_(offset(units[0])) {}

    // False once no key goes on with `byte`; then the search is over.
    bool step(std::uint8_t byte) noexcept {
        at_ ^= byte;
        const std::uint32_t unit = units_[at_];
        if (byte == 0 || (unit & 0x800000FFU) != byte) return false;
        at_ ^= offset(unit);
        is_key_ = (unit >> 8 & 1U) != 0;
        return true;
    }

    // Whether the bytes seen so far are a key, and then where in the texts is what it becomes.
    bool is_key() const noexcept { return is_key_; }
    std::uint32_t value() const noexcept { return units_[at_] & 0x7FFFFFFFU; }

  private:
    static constexpr std::uint32_t offset(std::uint32_t unit) noexcept { return unit >> 10 << ((unit & 0x200U) >> 6); }

    const std::uint32_t* units_;
    std::uint32_t at_;
    bool is_key_ = false;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
