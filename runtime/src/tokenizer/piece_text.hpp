// SPDX-License-Identifier: Apache-2.0
// What an id reads as alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "etch/tokenizer/decoders.hpp"
#include "models/key_text.hpp"
#include "models/trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Of a decoder's tables. Takes a kilobyte of stack.
class PieceText {
  public:
    PieceText(const Trie& trie, const Roots& roots, const Decoder& decoder, std::int32_t id,
              bool skip_special) noexcept {
        if (id < 0 || static_cast<std::uint32_t>(id) >= decoder.id_count) return;
        const std::uint8_t flags = decoder.flags[id];
        if ((flags & Decoder::kAbsent) != 0 || (skip_special && (flags & Decoder::kSpecial) != 0)) return;
        is_there_ = true;
        const std::uint32_t key = packed_value(decoder.keys, static_cast<std::uint32_t>(id), decoder.key_bits);
        if (key < trie.key_count) {
            size_ = text_of_key(trie, roots, key, text_, kLongest);
        } else {
            const std::uint32_t* begins = decoder.other_begins + (key - trie.key_count);
            size_ = begins[1] - begins[0];
            std::memcpy(text_, decoder.others + begins[0], size_);
        }
    }

    // False of an id that adds nothing.
    bool is_there() const noexcept { return is_there_; }
    const char* text() const noexcept { return text_; }
    std::size_t size() const noexcept { return size_; }

  private:
    static constexpr std::size_t kLongest = 1024;  // as codegen/tokenizer/decoder.py checks

    char text_[kLongest];
    std::size_t size_ = 0;
    bool is_there_ = false;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
