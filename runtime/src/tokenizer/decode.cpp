// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "etch/tokenizer/decoders.hpp"
#include "models/key_text.hpp"
#include "piece_text.hpp"
#include "unicode/utf8.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

// Bytes to whole characters, in memory of the caller's.
class Writer {
  public:
    Writer(const Decoder& decoder, DecoderState& state, char* text, std::size_t capacity) noexcept
        : drops_malformed_(decoder.drops_malformed), state_(state), text_(text), capacity_(capacity) {}

    std::size_t size() const noexcept { return size_; }

    // A byte of the text. A malformed sequence ends before the first byte that cannot continue it.
    void put(std::uint8_t byte) noexcept {
        if (state_.held_size != 0) {
            if (continues(byte)) {
                state_.held[state_.held_size++] = byte;
                if (state_.held_size == lead(state_.held[0]).size) give_held();
                return;
            }
            replace_held();
        }
        if (byte < 0x80U) {
            give(byte);
        } else if (lead(byte).size != 0) {
            state_.held[0] = byte;
            state_.held_size = 1;
        } else {
            give_replacement();
        }
    }

    void replace_held() noexcept {
        if (state_.held_size == 0) return;
        state_.held_size = 0;
        give_replacement();
    }

    // For malformed bytes.
    void give_replacement() noexcept {
        if (drops_malformed_) return;
        give(0xEFU);
        give(0xBFU);
        give(0xBDU);
    }

  private:
    bool continues(std::uint8_t byte) const noexcept {
        if (state_.held_size != 1) return (byte & 0xC0U) == 0x80U;
        const Lead form = lead(state_.held[0]);
        return byte >= form.lowest && byte <= form.highest;
    }

    void give_held() noexcept {
        for (std::uint32_t i = 0; i < state_.held_size; ++i)
            give(state_.held[i]);
        state_.held_size = 0;
    }

    void give(std::uint8_t byte) noexcept {
        if (size_ < capacity_) text_[size_] = static_cast<char>(byte);
        ++size_;
    }

    bool drops_malformed_;
    DecoderState& state_;
    char* text_;
    std::size_t capacity_;
    std::size_t size_ = 0;
};

// Those that turn out not to be the last ones.
void put_spaces(DecoderState& state, Writer& out) noexcept {
    for (; state.spaces != 0; --state.spaces)
        out.put(kSpace);
}

// A space at the beginning may be taken away, and those at the end.
void put(const Decoder& decoder, DecoderState& state, Writer& out, std::uint8_t byte) noexcept {
    if (!state.stripped) {
        if (byte == kSpace && state.strips < decoder.strip) {
            ++state.strips;
            return;
        }
        state.stripped = true;
    }
    if (decoder.drops_last_spaces && byte == kSpace) {
        ++state.spaces;
        return;
    }
    put_spaces(state, out);
    out.put(byte);
}

// Bytes at the beginning of the run that are whole characters; all of it where it is UTF-8.
std::uint32_t whole_size(const DecoderState& state) noexcept {
    return well_formed_size({reinterpret_cast<const char*>(state.run), state.run_size});
}

// The byte tokens so far, where no other one follows.
void end_run(const Decoder& decoder, DecoderState& state, Writer& out) noexcept {
    const bool broken = state.run_is_broken || whole_size(state) != state.run_size;
    for (std::uint32_t i = 0; i < state.run_size; ++i) {
        if (broken) {
            state.stripped = true;
            put_spaces(state, out);
            out.give_replacement();
        } else {
            put(decoder, state, out, state.run[i]);
        }
    }
    state.run_size = 0;
    state.run_is_broken = false;
}

// Makes room in a full run.
void shorten_run(const Decoder& decoder, DecoderState& state, Writer& out) noexcept {
    const std::uint32_t whole = whole_size(state);
    const bool may_go_on = state.run_size - whole < kMaxUtf8Bytes;
    if (state.run_is_broken || !may_go_on) {
        end_run(decoder, state, out);
        state.run_is_broken = true;
        return;
    }
    for (std::uint32_t i = 0; i < whole; ++i)
        put(decoder, state, out, state.run[i]);
    state.run_size = static_cast<std::uint8_t>(state.run_size - whole);
    std::memmove(state.run, state.run + whole, state.run_size);
}

// The value of a hexadecimal digit, or 16.
std::uint32_t digit(char c) noexcept {
    if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
    const std::uint32_t letter = static_cast<std::uint8_t>(c) | 0x20U;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

// Whether a token is written as a byte, such as <0x0A>, and which: two digits, or one behind a plus sign, as the wheel
// reads them.
bool read_byte(const char* text, std::size_t size, std::uint8_t& byte) noexcept {
    if (size != 6 || std::memcmp(text, "<0x", 3) != 0 || text[5] != '>') return false;
    const std::uint32_t high = text[3] == '+' ? 0 : digit(text[3]);
    const std::uint32_t low = digit(text[4]);
    if (high == 16 || low == 16) return false;
    byte = static_cast<std::uint8_t>(high << 4 | low);
    return true;
}

void put_piece(const Decoder& decoder, std::uint8_t flags, const char* text, std::size_t size, DecoderState& state,
               Writer& out) noexcept {
    const bool is_first = !state.begun;
    if (!is_first && (flags & Decoder::kGlued) == 0) put(decoder, state, out, kSpace);
    std::size_t at = !is_first && (flags & Decoder::kGoesOn) != 0 ? decoder.prefix_size : 0;
    while (at < size) {
        const bool reads_as_space = decoder.space_size != 0 && size - at >= decoder.space_size &&
                                    std::memcmp(text + at, decoder.space, decoder.space_size) == 0;
        if (!reads_as_space) {
            put(decoder, state, out, static_cast<std::uint8_t>(text[at++]));
            continue;
        }
        if (!is_first || !decoder.drops_first_spaces) put(decoder, state, out, kSpace);
        at += decoder.space_size;
    }
}

std::size_t decode_id(const Trie& trie, const Roots& roots, const Decoder& decoder, std::int32_t id, bool skip_special,
                      DecoderState& state, char* text, std::size_t capacity) noexcept {
    const PieceText piece(trie, roots, decoder, id, skip_special);
    if (!piece.is_there()) return 0;
    const std::uint8_t flags = decoder.flags[id];

    DecoderState next = state;
    Writer out(decoder, next, text, capacity);
    std::uint8_t byte = 0;
    if (decoder.byte_fallback && read_byte(piece.text(), piece.size(), byte)) {
        if (next.run_size == DecoderState::kMostRun) shorten_run(decoder, next, out);
        next.run[next.run_size++] = byte;
    } else {
        end_run(decoder, next, out);
        put_piece(decoder, flags, piece.text(), piece.size(), next, out);
    }
    next.begun = true;
    if (out.size() <= capacity) state = next;
    return out.size();
}

}  // namespace
}  // namespace tokenizer

std::size_t decode(const WordPiece& model, const Decoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept {
    return tokenizer::decode_id(model.trie, tokenizer::roots_of(model), decoder, id, skip_special, state, text,
                                capacity);
}

std::size_t decode(const ByteLevelBpe& model, const Decoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept {
    return tokenizer::decode_id(model.trie, tokenizer::roots_of(model), decoder, id, skip_special, state, text,
                                capacity);
}

std::size_t decode(const CharacterBpe& model, const Decoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept {
    return tokenizer::decode_id(model.trie, tokenizer::roots_of(model), decoder, id, skip_special, state, text,
                                capacity);
}

std::size_t decode(const Unigram& model, const Decoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept {
    return tokenizer::decode_id(model.trie, tokenizer::roots_of(model), decoder, id, skip_special, state, text,
                                capacity);
}

std::size_t decode(const Bytes& model, const Decoder& decoder, std::int32_t id, bool skip_special, DecoderState& state,
                   char* text, std::size_t capacity) noexcept {
    return tokenizer::decode_id(model.trie, tokenizer::roots_of(model), decoder, id, skip_special, state, text,
                                capacity);
}

DecoderState decoding_behind(const Decoder& decoder, const std::int32_t* ids, std::uint32_t count) noexcept {
    DecoderState state{};
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool is_known = ids[i] >= 0 && static_cast<std::uint32_t>(ids[i]) < decoder.id_count;
        if (!is_known || (decoder.flags[ids[i]] & (Decoder::kSpecial | Decoder::kAbsent)) != 0) continue;
        state.begun = state.stripped = true;
        const bool has_space = decoder.drops_last_spaces && (decoder.flags[ids[i]] & Decoder::kEnds) != 0;
        state.spaces = has_space ? 1 : 0;  // which the text did not end with
    }
    return state;
}

std::size_t finish_decoding(const Decoder& decoder, DecoderState& state, char* text, std::size_t capacity) noexcept {
    DecoderState next = state;
    tokenizer::Writer out(decoder, next, text, capacity);
    tokenizer::end_run(decoder, next, out);
    out.replace_held();
    if (out.size() <= capacity) state = next;
    return out.size();
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
