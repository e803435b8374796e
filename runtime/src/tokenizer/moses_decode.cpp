// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "etch/tokenizer/moses_decoder.hpp"
#include "joined_words.hpp"
#include "models/key_text.hpp"
#include "piece_text.hpp"
#include "unicode/utf8.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

// It lies where other decoders have their bytes.
static_assert(sizeof(Joining) <= sizeof DecoderState::run);

Joining joining_of(const DecoderState& state) noexcept {
    Joining joining;
    std::memcpy(&joining, state.run, sizeof joining);
    return joining;
}

void keep(const Joining& joining, DecoderState& state) noexcept {
    std::memcpy(state.run, &joining, sizeof joining);
}

void put_piece(const MosesDecoder& decoder, const PieceText& piece, JoinedDashes& words) noexcept {
    const char* text = piece.text();
    const char* const end = text + piece.size();
    const std::uint32_t mark = decoder.pieces.space_size;
    while (text != end) {
        if (static_cast<std::size_t>(end - text) >= mark && std::memcmp(text, decoder.pieces.space, mark) == 0) {
            words.end_word();
            text += mark;
            continue;
        }
        const Decoded one = decode_known(reinterpret_cast<const std::uint8_t*>(text));
        words.put(one.scalar);
        text += one.size;
    }
}

template <class Model>
std::size_t decode_id(const Model& model, const MosesDecoder& decoder, std::int32_t id, bool skip_special,
                      DecoderState& state, char* text, std::size_t capacity) noexcept {
    const PieceText piece(model.trie, roots_of(model), decoder.pieces, id, skip_special);
    if (!piece.is_there()) return 0;
    Joining joining = joining_of(state);
    JoinedText out(text, capacity);
    JoinedDashes words(decoder, joining, out);
    put_piece(decoder, piece, words);
    if (out.size() <= capacity) keep(joining, state);
    return out.size();
}

template <class Model>
DecoderState state_behind(const Model& model, const MosesDecoder& decoder, const std::int32_t* ids,
                          std::uint32_t count) noexcept {
    Joining joining{};
    JoinedText out(nullptr, 0);
    JoinedDashes words(decoder, joining, out);
    for (std::uint32_t i = 0; i < count; ++i) {
        const PieceText piece(model.trie, roots_of(model), decoder.pieces, ids[i], true);
        if (piece.is_there()) put_piece(decoder, piece, words);
    }
    words.settle();
    DecoderState state{};
    keep(joining, state);
    return state;
}

}  // namespace
}  // namespace tokenizer

std::size_t decode(const WordPiece& model, const MosesDecoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept {
    return tokenizer::decode_id(model, decoder, id, skip_special, state, text, capacity);
}

std::size_t decode(const CharacterBpe& model, const MosesDecoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept {
    return tokenizer::decode_id(model, decoder, id, skip_special, state, text, capacity);
}

std::size_t finish_decoding(const MosesDecoder& decoder, DecoderState& state, char* text,
                            std::size_t capacity) noexcept {
    tokenizer::Joining joining = tokenizer::joining_of(state);
    tokenizer::JoinedText out(text, capacity);
    tokenizer::JoinedDashes words(decoder, joining, out);
    words.settle();
    if (out.size() <= capacity) tokenizer::keep(joining, state);
    return out.size();
}

DecoderState decoding_behind(const WordPiece& model, const MosesDecoder& decoder, const std::int32_t* ids,
                             std::uint32_t count) noexcept {
    return tokenizer::state_behind(model, decoder, ids, count);
}

DecoderState decoding_behind(const CharacterBpe& model, const MosesDecoder& decoder, const std::int32_t* ids,
                             std::uint32_t count) noexcept {
    return tokenizer::state_behind(model, decoder, ids, count);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
