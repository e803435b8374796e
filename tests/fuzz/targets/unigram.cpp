// SPDX-License-Identifier: Apache-2.0
// SentencePiece's Unigram, with three vocabularies and every setting: what every tokenizer promises. An input is
//     tables, settings, capacity, first text [, FF FF, second text]
// with one byte for each of the first three.
#include <iterator>

#include "tokenizer/test_vocabulary.hpp"
#include "tokenizer_promises.hpp"

namespace {

using etch::SpecialTokens;
using etch::fuzz::check;
using etch::fuzz::Encoded;
using etch::fuzz::has_id;

const etch::UnigramTokenizer* const kTables[] = {
    &test_vocabulary::kPieces,
    &test_vocabulary::kPiecesOfBytes,
    &test_vocabulary::kPiecesWithTokens,
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    etch::UnigramTokenizer tables = *kTables[input.byte() % std::size(kTables)];
    const std::uint8_t settings = input.byte();
    tables.normalizer.strip_left_before ^= (settings & 1) != 0;
    tables.normalizer.strip_right_after ^= (settings & 2) != 0;
    tables.normalizer.run_content ^= (settings & 4) != 0 ? 0x20U : 0U;
    tables.segmenter.split ^= (settings & 8) != 0;
    tables.segmenter.split_whitespace ^= (settings & 16) != 0;
    tables.segmenter.prepend = static_cast<etch::PrependScheme>((settings >> 5) % 3);
    const SpecialTokens mode = (settings & 128) != 0 ? SpecialTokens::plain_text : SpecialTokens::recognized;
    const std::uint32_t capacity = input.byte();
    const auto look = [&](std::string_view, const Encoded& whole) {
        for (const std::int32_t id : whole.ids) {
            // The unknown token is special, and what unknown text becomes.
            const bool is_special = id != tables.model.unknown_id && has_id(tables.raw_tokens, id, true);
            check(mode == SpecialTokens::recognized || !is_special, "no special token from plain text");
        }
    };
    etch::fuzz::check_promises(tables, mode, capacity, input, look);
    return 0;
}
