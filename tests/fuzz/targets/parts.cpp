// SPDX-License-Identifier: Apache-2.0
// The normalizers and segmenters that other targets do not have, each in a composition: what every tokenizer promises.
// An input is
//     composition, settings, capacity, first text [, FF FF, second text]
// with one byte for each of the first three.
#include "tokenizer/test_vocabulary.hpp"
#include "tokenizer_promises.hpp"

namespace {

using etch::SpecialTokens;
using etch::fuzz::check;
using etch::fuzz::Encoded;
using etch::fuzz::has_id;

// What becomes of a few characters: A and sharp s are folded, the soft hyphen vanishes, e with an acute falls apart.
// Marks of three ranks, of which the acute and the letters of Hangul compose.
struct Characters {
    std::uint8_t top[0x1100] = {};
    std::uint16_t middle[4 * 16] = {};
    std::uint16_t folds[8 * 16] = {};
    std::uint16_t forms[8 * 16] = {};

    constexpr Characters() {
        top[0x00] = 1;
        top[0x03] = 2;
        top[0x11] = 3;
        middle[16 + 0x4] = 1;
        middle[16 + 0xA] = 2;
        middle[16 + 0xD] = 3;
        middle[16 + 0xE] = 4;
        middle[32 + 0x0] = 5;
        middle[32 + 0x2] = 6;
        for (int i = 0x6; i < 0xD; ++i)
            middle[48 + i] = 7;
        folds[1 * 16 + 0x1] = 1;
        folds[3 * 16 + 0xF] = 3;
        folds[2 * 16 + 0xD] = 2;
        forms[4 * 16 + 0x9] = 1;
        forms[5 * 16 + 0x1] = 2;
        forms[6 * 16 + 0x3] = 3;
        forms[6 * 16 + 0x7] = 4;
        for (int i = 0; i < 16; ++i)
            forms[7 * 16 + i] = 5;
    }
};
constexpr Characters kCharacters;
constexpr std::uint8_t kFolded[] = {0, 'a', 0, 's', 's', 0};
constexpr std::uint8_t kDecomposed[] = {0, 'e', 0xCC, 0x81, 0};
constexpr std::uint32_t kEntries[] = {
    0, 1U << etch::NormalForm::kTextShift, 3 | etch::NormalForm::kIsSecond, 2, 1, etch::NormalForm::kIsSecond,
};
constexpr std::uint32_t kPairs[] = {0x301, 'e', 0xE9};
constexpr etch::Folding kFolding{kCharacters.top, kCharacters.middle, kCharacters.folds, kFolded, true, false};
constexpr etch::NormalForm kForm{
    kCharacters.top, kCharacters.middle, kCharacters.forms, kEntries, kDecomposed, kPairs, 1, true,
};

// What unknown text becomes may be a special token.
std::int32_t unknown_id(const etch::WordPiece& model) {
    return model.unknown_id;
}
std::int32_t unknown_id(const etch::CharacterBpe& model) {
    return model.unknown_id;
}
std::int32_t unknown_id(const etch::Unigram& model) {
    return model.unknown_id;
}
std::int32_t unknown_id(const etch::ByteLevelBpe&) {
    return -1;
}

struct Request {
    SpecialTokens mode;
    std::uint32_t capacity;
    etch::fuzz::Input& input;
};

// With the model, the template and the tokens of another tokenizer.
template <class Tables, class Other>
void run(const Other& other, const typename Tables::Normalizer& normalizer, const typename Tables::Segmenter& segmenter,
         const Request& request) {
    const Tables tables{other.raw_tokens, other.normalized_tokens, normalizer, segmenter, other.model, other.parts};
    const auto look = [&](std::string_view, const Encoded& whole) {
        for (const std::int32_t id : whole.ids) {
            const bool is_special = id != unknown_id(tables.model) && has_id(tables.raw_tokens, id, true);
            check(request.mode == SpecialTokens::recognized || !is_special, "no special token from plain text");
        }
    };
    etch::fuzz::check_promises(tables, request.mode, request.capacity, request.input, look);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    const std::uint8_t composition = input.byte();
    const std::uint8_t settings = input.byte();
    const bool one = (settings & 1) != 0;
    const bool other = (settings & 2) != 0;
    const SpecialTokens mode = (settings & 4) != 0 ? SpecialTokens::plain_text : SpecialTokens::recognized;
    const std::uint32_t capacity = input.byte();
    const Request request{mode, capacity, input};
    etch::NormalForm form = kForm;
    form.composes = other;
    const auto& bytes = test_vocabulary::kBytesWithTokens;
    switch (composition % 9) {
        case 0:
            run<etch::DigitsBpeTokenizer>(bytes, {}, {one, other}, request);
            break;
        case 1:
            run<etch::Cl100kBpeTokenizer>(bytes, {}, {one ? 3U : 1U}, request);
            break;
        case 2:
            run<etch::NormalFormByteLevelBpeTokenizer>(bytes, {form}, {one}, request);
            break;
        case 3:
            run<etch::NormalFormDigitsBpeTokenizer>(bytes, {form}, {one, true}, request);
            break;
        case 4:
            run<etch::NormalFormCl100kBpeTokenizer>(bytes, {form}, {one ? 3U : 1U}, request);
            break;
        case 5:
            run<etch::CharacterByteLevelBpeTokenizer>(bytes, {kFolding}, {one}, request);
            break;
        case 6:
            if ((settings & 8) != 0) {
                run<etch::CharacterWordPieceTokenizer>(test_vocabulary::kUncased, {kFolding}, {}, request);
            } else {
                run<etch::CharacterWordLevelTokenizer>(test_vocabulary::kWords, {kFolding}, {one}, request);
            }
            break;
        case 7: {
            if ((settings & 8) != 0) {
                const auto& pieces = other ? test_vocabulary::kPiecesOfBytes : test_vocabulary::kPieces;
                run<etch::NormalFormUnigramTokenizer>(pieces, {form}, {pieces.segmenter.prepend, one, other}, request);
                break;
            }
            const auto& merged = other ? test_vocabulary::kMergedText : test_vocabulary::kMerged;
            run<etch::CharacterBpeTokenizer>(merged, merged.normalizer, {merged.segmenter.prepend, one, false},
                                             request);
            break;
        }
        default:
            if ((settings & 16) != 0) {
                run<etch::NormalFormWordPieceTokenizer>(test_vocabulary::kUncased, {form}, {}, request);
            } else if ((settings & 8) != 0) {
                run<etch::SingleCharacterTokenizer>(test_vocabulary::kWords, {}, {}, request);
            } else {
                run<etch::WordLevelTokenizer>(test_vocabulary::kWords, {false, false, other, other}, {one}, request);
            }
            break;
    }
    return 0;
}
