// SPDX-License-Identifier: Apache-2.0
// Token ids back to text, one id after the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/tokenizer/models.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// The decoders of `tokenizers` as one rule with settings: WordPiece, ByteLevel, Metaspace, BPEDecoder, and the sequence
// of Replace, ByteFallback, Fuse and Strip; that of ByT5Tokenizer of `transformers`, too. The texts are those of the
// model's trie; what they become behind another token was found out by codegen/tokenizer/decoder.py.
struct Decoder {
    static constexpr std::uint8_t kSpecial = 1;  // left out where special tokens are
    static constexpr std::uint8_t kGlued = 2;    // no space before it
    static constexpr std::uint8_t kGoesOn = 4;   // loses its first `prefix_size` bytes, unless it begins the text
    static constexpr std::uint8_t kAbsent = 8;   // there is no such token
    static constexpr std::uint8_t kEnds = 16;    // its text ends with `space`

    const std::uint8_t* keys;           // [id_count] of `key_bits` each: the trie's key of an id's text; from its
                                        // key_count on: which of `others` it is
    const std::uint8_t* flags;          // [id_count]
    const std::uint8_t* others;         // texts that no key has
    const std::uint32_t* other_begins;  // [others + 1]
    const std::uint8_t* space;          // [space_size] what reads as a space, such as U+2581
    std::uint32_t key_bits;
    std::uint32_t id_count;
    std::uint32_t space_size;
    std::uint32_t prefix_size;
    std::uint32_t strip;      // so many spaces are taken from the beginning of the text, where there are as many
    bool drops_first_spaces;  // `space` in the first token reads as nothing
    bool byte_fallback;       // <0x41> is a byte; where a run of such tokens is not UTF-8, each is U+FFFD
    bool drops_last_spaces;   // spaces at the end of the text
    bool drops_malformed;     // bytes that are no UTF-8, else U+FFFD
};

// What is not written yet: bytes of a character that is not whole, and byte tokens that may be part of one. Zeros are
// the beginning of a text.
struct DecoderState {
    // A longer run of byte tokens is judged in parts: of its valid beginning nothing is taken back.
    static constexpr std::uint32_t kMostRun = 64;

    std::uint8_t run[kMostRun];  // of a MosesDecoder what it knows of the text
    std::uint8_t held[4];
    std::uint8_t run_size;
    std::uint8_t held_size;
    bool run_is_broken;
    bool begun;            // a token was decoded
    bool stripped;         // the beginning has lost what it loses
    std::uint32_t strips;  // so many spaces so far
    std::uint32_t spaces;  // that may be the last ones: written with what follows them
};

// Writes the characters that an id completes, always whole ones, malformed UTF-8 as the decoder says; returns their
// size in bytes. Where that is more than `capacity`, `text` holds nothing of use and `state` is as before. An id
// without a text adds nothing. With every id of a text and finish_decoding() the parts joined are what the library
// decodes of all ids. Uses a kilobyte of stack: the longest piece.
std::size_t decode(const WordPiece& model, const Decoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept;
std::size_t decode(const ByteLevelBpe& model, const Decoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept;
std::size_t decode(const CharacterBpe& model, const Decoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept;
std::size_t decode(const Unigram& model, const Decoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept;
std::size_t decode(const Bytes& model, const Decoder& decoder, std::int32_t id, bool skip_special, DecoderState& state,
                   char* text, std::size_t capacity) noexcept;

// The same of what is left behind the last id.
std::size_t finish_decoding(const Decoder& decoder, DecoderState& state, char* text, std::size_t capacity) noexcept;

// The state behind a text of these ids, whole characters, with special tokens left out: what follows goes on with it.
DecoderState decoding_behind(const Decoder& decoder, const std::int32_t* ids, std::uint32_t count) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
