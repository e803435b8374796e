// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE, with three vocabularies and every setting: besides what every tokenizer promises, that its pieces
// spell the text. An input is
//     tables, settings, capacity, first text [, FF FF, second text]
// with one byte for each of the first three.
#include <iterator>
#include <string>

#include "tokenizer/test_vocabulary.hpp"
#include "tokenizer/unicode/utf8.hpp"
#include "tokenizer_promises.hpp"

namespace {

using etch::SpecialTokens;
using etch::fuzz::check;
using etch::fuzz::Encoded;
using etch::fuzz::has_id;

const etch::ByteLevelBpeTokenizer* const kTables[] = {
    &test_vocabulary::kBytes,
    &test_vocabulary::kBytesWithTokens,
    &test_vocabulary::kBytesWhole,
};

std::string well_formed(std::string_view text) {
    std::string result;
    for (std::uint32_t at = 0; at < text.size();) {
        const etch::tokenizer::Decoded character = etch::tokenizer::decode(text, at);
        std::uint8_t bytes[etch::tokenizer::kMaxUtf8Bytes];
        const std::uint32_t count = etch::tokenizer::encode(character.scalar, bytes);
        result.append(bytes, bytes + count);
        at += character.size;
    }
    return result;
}

std::string piece(const etch::ByteLevelBpeTokenizer& tables, std::int32_t id) {
    std::string text(etch::piece(tables, id, nullptr, 0), '\0');
    etch::piece(tables, id, text.data(), text.size());
    return text;
}

// Between added tokens, which may swallow white space, every character of the text is spelled, in its order; before the
// first one add_prefix_space may put a space.
void check_spelling(const etch::ByteLevelBpeTokenizer& tables, std::string_view text, const Encoded& whole) {
    std::string spelled;
    std::uint32_t begin = 0;
    const auto check_up_to = [&](std::uint32_t end) {
        const std::string expected = well_formed(text.substr(begin, end - begin));
        const bool as_it_is = spelled == expected;
        check(as_it_is || (tables.segmenter.add_prefix_space && spelled == " " + expected), "pieces spell the text");
        spelled.clear();
    };
    for (std::size_t i = 0; i < whole.ids.size(); ++i) {
        if (!has_id(tables.raw_tokens, whole.ids[i])) {
            spelled += piece(tables, whole.ids[i]);
            continue;
        }
        check_up_to(whole.offsets[i].begin);
        begin = whole.offsets[i].end;
    }
    check_up_to(static_cast<std::uint32_t>(text.size()));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    etch::ByteLevelBpeTokenizer tables = *kTables[input.byte() % std::size(kTables)];
    const std::uint8_t settings = input.byte();
    tables.segmenter.add_prefix_space ^= (settings & 1) != 0;
    tables.model.trim_offsets ^= (settings & 2) != 0;
    tables.model.keep_first_space ^= (settings & 4) != 0;
    const SpecialTokens mode = (settings & 8) != 0 ? SpecialTokens::plain_text : SpecialTokens::recognized;
    const std::uint32_t capacity = input.byte();
    const auto look = [&](std::string_view text, const Encoded& whole) {
        for (const std::int32_t id : whole.ids)
            check(mode == SpecialTokens::recognized || !has_id(tables.raw_tokens, id, true),
                  "no special token from plain text");
        // Offsets that are trimmed leave out white space that an added token swallowed.
        if (!tables.model.trim_offsets) check_spelling(tables, text, whole);
    };
    etch::fuzz::check_promises(tables, mode, capacity, input, look);
    return 0;
}
