// SPDX-License-Identifier: Apache-2.0
// BERT's tokenizer, with five vocabularies and every setting. An input is
//     tables, settings, capacity, first text [, FF FF, second text]
// with one byte for each of the first three.
#include <iterator>

#include "agnews_weights.hpp"
#include "tokenizer/test_vocabulary.hpp"
#include "tokenizer_promises.hpp"

namespace {

using etch::SpecialTokens;
using etch::fuzz::check;
using etch::fuzz::Encoded;
using etch::fuzz::has_id;

const etch::BertTokenizer* const kTables[] = {
    &test_vocabulary::kUncased,       &test_vocabulary::kCased,  &test_vocabulary::kWithTokens,
    &test_vocabulary::kLowercaseOnly, &etch::agnews::kTokenizer,
};

bool is_special(const etch::BertTokenizer& tables, std::int32_t id) {
    return id != tables.model.unknown_id &&
           (has_id(tables.raw_tokens, id, true) || has_id(tables.normalized_tokens, id, true));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    etch::BertTokenizer tables = *kTables[input.byte() % std::size(kTables)];
    const std::uint8_t settings = input.byte();
    tables.normalizer.clean_text ^= (settings & 1) != 0;
    tables.normalizer.handle_chinese_chars ^= (settings & 2) != 0;
    tables.normalizer.strip_accents ^= (settings & 4) != 0;
    tables.normalizer.lowercase ^= (settings & 8) != 0;
    const SpecialTokens mode = (settings & 16) != 0 ? SpecialTokens::plain_text : SpecialTokens::recognized;
    if ((settings & 32) != 0) {
        tables.model.max_word_chars = settings >> 6;  // short words are rare in texts, words too long rarer still
    }
    const std::uint32_t capacity = input.byte();
    const auto look = [&](std::string_view text, const Encoded& whole) {
        const bool ascii =
            std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
        std::uint32_t before = 0;
        for (std::size_t i = 0; i < whole.ids.size(); ++i) {
            const etch::TokenOffset& offset = whole.offsets[i];
            // Marks beyond ASCII may change places when they are normalized, and several tokens may share a character.
            check(!ascii || (before <= offset.begin && offset.begin < offset.end), "tokens follow each other");
            check(mode == SpecialTokens::recognized || !is_special(tables, whole.ids[i]),
                  "no special token from plain text");
            before = offset.end;
        }
    };
    etch::fuzz::check_promises(tables, mode, capacity, input, look);
    return 0;
}
