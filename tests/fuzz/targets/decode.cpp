// SPDX-License-Identifier: Apache-2.0
// Ids back to text, one after the other: whole characters whatever the ids, and nothing lost to a small buffer. An
// input is one byte for the tokenizer, one for the decoder's settings, and two for each id.
#include <algorithm>
#include <string>
#include <vector>

#include "etch/tokenizer/moses_decoder.hpp"
#include "fuzz.hpp"
#include "tokenizer/test_vocabulary.hpp"
#include "tokenizer/unicode/utf8.hpp"

namespace {

using etch::fuzz::check;

bool is_utf8(std::string_view text) {
    for (std::uint32_t at = 0; at < text.size();) {
        const etch::tokenizer::Decoded character = etch::tokenizer::decode(text, at);
        std::uint8_t bytes[etch::tokenizer::kMaxUtf8Bytes];
        const std::uint32_t size = etch::tokenizer::encode(character.scalar, bytes);
        if (size != character.size || std::memcmp(bytes, text.data() + at, size) != 0) return false;
        at += size;
    }
    return true;
}

// What `write(text, capacity)` writes into a block of the size it asks for. Less room gives the same answer and changes
// nothing, which the next call shows.
template <class Write>
std::string part(std::size_t less, Write write) {
    const std::size_t size = write(nullptr, 0);
    if (size == 0) return {};
    const std::size_t room = less % size;
    const std::unique_ptr<char[]> small(new char[room]);
    check(write(small.get(), room) == size, "too little room is said with the size");
    const std::unique_ptr<char[]> text(new char[size]);
    check(write(text.get(), size) == size, "the size that was asked for suffices");
    return {text.get(), size};
}

template <class Tables, class Decoder>
std::string decode(const Tables& tables, const Decoder& decoder, bool skip_special,
                   const std::vector<std::int32_t>& ids, etch::DecoderState state = {}) {
    std::string whole;
    const auto add = [&](const std::string& text) {
        check(is_utf8(text), "whole characters");
        whole += text;
    };
    for (const std::int32_t id : ids) {
        add(part(ids.size() + whole.size(), [&](char* text, std::size_t capacity) {
            return etch::decode(tables.model, decoder, id, skip_special, state, text, capacity);
        }));
    }
    add(part(whole.size(),
             [&](char* text, std::size_t capacity) { return etch::finish_decoding(decoder, state, text, capacity); }));
    check(state.run_size == 0 && state.held_size == 0, "nothing is left behind the last id");
    return whole;
}

// Any kinds of characters, and any marks of an end; behind a text of the first ids.
void run_joined(etch::fuzz::Input& input) {
    const auto& model = test_vocabulary::kMergedText.model;
    const std::uint8_t settings = input.byte();
    std::uint8_t ascii[128];
    for (std::uint8_t c = 0; c < 128; ++c)
        ascii[c] = static_cast<std::uint8_t>(1U << (settings * c >> 3) % 7 >> 1);
    constexpr std::uint32_t kRanges[] = {0, 0xA0U << 8 | 0x24U, 0x2000U << 8 | 8U, 0x2100U << 8 | 0x20U};
    etch::MosesDecoder decoder{test_vocabulary::kMergedText_decoder, {ascii, kRanges, 4}, (settings & 1) != 0};
    const std::uint32_t before = input.byte() % 8U;
    std::vector<std::int32_t> ids;
    while (!input.empty())
        ids.push_back(input.byte() * 2 % static_cast<std::int32_t>(decoder.pieces.id_count));
    const auto count = std::min(before, static_cast<std::uint32_t>(ids.size()));
    const etch::DecoderState state = etch::decoding_behind(model, decoder, ids.data(), count);
    decode(test_vocabulary::kMergedText, decoder, true, ids, state);
}

template <class Tables>
void run(const Tables& tables, etch::Decoder decoder, etch::fuzz::Input& input) {
    const std::uint8_t settings = input.byte();
    const bool skip_special = (settings & 1) != 0;
    decoder.drops_first_spaces ^= (settings & 2) != 0;
    decoder.byte_fallback ^= (settings & 4) != 0;
    decoder.strip ^= settings >> 6;
    const auto count = static_cast<std::int32_t>(decoder.id_count);
    std::vector<std::int32_t> ids;
    while (!input.empty()) {
        const std::int32_t high = input.byte();
        ids.push_back((high << 8 | input.byte()) % (count + 2) - 1);  // one on each side that there is not
    }
    const std::string text = decode(tables, decoder, skip_special, ids);
    std::vector<std::int32_t> known;
    for (const std::int32_t id : ids) {
        const bool is_absent = id < 0 || id >= count || (decoder.flags[id] & etch::Decoder::kAbsent) != 0;
        const bool is_left_out = is_absent || (skip_special && (decoder.flags[id] & etch::Decoder::kSpecial) != 0);
        if (!is_left_out) known.push_back(id);
    }
    check(decode(tables, decoder, false, known) == text, "ids without a text add nothing");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    switch (input.byte() % 6) {
        case 0:
            run(test_vocabulary::kUncased, test_vocabulary::kUncased_decoder, input);
            break;
        case 1:
            run(test_vocabulary::kBytes, test_vocabulary::kBytes_decoder, input);
            break;
        case 2:
            run(test_vocabulary::kMergedText, test_vocabulary::kMergedText_decoder, input);
            break;
        case 3:
            run(test_vocabulary::kBytesAlone, test_vocabulary::kBytesAlone_decoder, input);
            break;
        case 4:
            run_joined(input);
            break;
        default:
            run(test_vocabulary::kPiecesOfBytes, test_vocabulary::kPiecesOfBytes_decoder, input);
            break;
    }
    return 0;
}
