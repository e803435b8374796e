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
std::int32_t unknown_id(const etch::Bytes&) {
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

// Of code points special tokens are plain text, too: their ids say nothing.
void run_code_points(const Request& request) {
    const auto& other = test_vocabulary::kBytesAlone;
    const etch::CodePointTokenizer tables{other.raw_tokens, other.normalized_tokens, {}, {}, {}, other.parts};
    const auto nothing = [](std::string_view, const Encoded&) {};
    etch::fuzz::check_promises(tables, request.mode, request.capacity, request.input, nothing);
}

constexpr std::uint8_t kPlain[128] = {};  // what ASCII becomes must be found out

// Any kinds of characters; lower case or not.
void run_normalized_moses(const etch::CharacterClasses& classes, std::uint32_t state, const etch::NormalForm& form,
                          const Request& request) {
    constexpr std::uint8_t kAbbreviations[] = {etch::MosesSegmenter::kAnywhere, 'a', 'b', 0, 0};
    std::uint16_t kinds[4];
    for (std::uint16_t& kind : kinds) {
        state = state * 1664525U + 1013904223U;
        kind = static_cast<std::uint16_t>(state >> 21);
    }
    const etch::Folding folding = (state & 0x100U) != 0 ? kFolding : etch::Folding{};
    if ((state & 0x200U) != 0) {
        run<etch::EnglishMosesBpeTokenizer>(test_vocabulary::kMergedText, {}, {classes, kinds, kAbbreviations, folding},
                                            request);
    } else {
        run<etch::FrenchMosesBpeTokenizer>(test_vocabulary::kMergedText, {form},
                                           {classes, kinds, kAbbreviations, folding}, request);
    }
}

// A text parted at single characters: white space is dropped, letters, digits and others are each of a class.
void run_split(std::uint8_t composition, std::uint8_t settings, const etch::NormalForm& form, const Request& request) {
    std::uint8_t ascii[128];
    for (std::uint8_t c = 0; c < 128; ++c) {
        const bool is_letter = static_cast<std::uint8_t>((c | 0x20U) - 'a') < 26;
        ascii[c] = c <= 0x20 ? 0 : is_letter ? 1 : static_cast<std::uint8_t>(c - '0') < 10 ? 2 : 3;
    }
    constexpr std::uint32_t kBits = etch::CharacterClasses::kClassBits;
    constexpr std::uint32_t kRanges[] = {3, 0xC0U << kBits | 1, 0x300U << kBits | 3, 0x3000U << kBits,
                                         0x3001U << kBits | 2};
    const std::uint32_t parted[] = {0, settings & 14U, settings >> 2 & 14U, settings >> 4 & 14U};
    const std::uint32_t letters = (parted[1] & 2U) != 0 ? 0 : 1;
    const etch::CharacterClasses classes{ascii, kRanges, 5};
    const etch::SequenceNormalizer nothing{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, kPlain, true};
    const bool one = (settings & 1) != 0;
    const auto& pieces = test_vocabulary::kPieces;
    // Any steps between four states: what is found may be anything, but the promises hold.
    std::uint16_t steps[2][16];
    std::uint32_t state = settings;
    for (auto& table : steps)
        for (std::uint16_t& step : table) {
            state = state * 1664525U + 1013904223U;
            step = static_cast<std::uint16_t>(state >> 28 << 14 | (state >> 16 & 3U));
        }
    constexpr std::uint8_t kAbbreviations[] = {etch::MosesSegmenter::kAnywhere,     'a', 'b', 0,
                                               etch::MosesSegmenter::kBeforeNumber, 'b', 0,   0};
    const etch::ExpressionSegmenter expressions{classes, one ? steps[0] : nullptr, steps[1], 4};
    switch (composition % 11) {
        case 10:
            run_code_points(request);
            break;
        case 8:
            run_normalized_moses(classes, state, form, request);
            break;
        case 7: {
            // Any kinds of characters.
            std::uint8_t kinds[128];
            for (std::uint8_t& kind : kinds) {
                state = state * 1664525U + 1013904223U;
                kind = static_cast<std::uint8_t>(state >> 24);
            }
            run<etch::MosesBpeTokenizer>(test_vocabulary::kMergedText, {}, {{kinds, kRanges, 5}, kAbbreviations},
                                         request);
            break;
        }
        case 6:
            run<etch::ExpressionBpeTokenizer>(test_vocabulary::kBytesWithTokens, {}, expressions, request);
            break;
        case 0:
            run<etch::SplitByteLevelBpeTokenizer>(test_vocabulary::kBytesWithTokens, {},
                                                  {classes, parted, letters, {one}}, request);
            break;
        case 1:
            run<etch::WordByteLevelBpeTokenizer>(test_vocabulary::kBytesWithTokens, {},
                                                 {classes, parted, letters, {one, false}}, request);
            break;
        case 2:
            run<etch::SplitWordPieceTokenizer>(test_vocabulary::kWords, {false, false, one, one},
                                               {classes, parted, letters, {false, true}}, request);
            break;
        case 3:
            if (one) {
                run<etch::WordCharacterBpeTokenizer>(test_vocabulary::kMerged, {one, one, one, one},
                                                     {classes, parted, letters, {false, false}}, request);
            } else {
                run<etch::SequenceWordCharacterBpeTokenizer>(test_vocabulary::kMerged, nothing,
                                                             {classes, parted, letters, {false, false}}, request);
            }
            break;
        case 4:
            run<etch::SequenceClipBpeTokenizer>(test_vocabulary::kBytesWithTokens, nothing,
                                                {{classes, parted, letters, {false}}}, request);
            break;
        case 5:
            run<etch::SplitUnigramTokenizer>(
                pieces, pieces.normalizer, {classes, parted, letters, {pieces.segmenter.prepend, one, false}}, request);
            break;
        default:
            run<etch::WordUnigramTokenizer>(pieces, pieces.normalizer, {classes, parted, letters, {false, false}},
                                            request);
            break;
    }
}

// Codes of one piece and of none, sums of floats; or no codes, and unknown text that is looked up.
void run_sentencepiece(bool has_map, bool merges, const Request& request) {
    if (merges) {
        auto merged = test_vocabulary::kMerged;
        merged.model.named_begin = 0;
        const auto& map = merged.normalizer;
        run<etch::SentencePieceBpeTokenizer>(merged, {map.units, map.texts, kPlain, has_map, {}, -1},
                                             {etch::PrependScheme::doubled, true, false}, request);
        return;
    }
    constexpr std::uint8_t kText[] = {'>', '>', 'a', '<', '<'};
    constexpr std::uint32_t kBegins[] = {0, 5};
    constexpr std::int32_t kIds[] = {6};
    constexpr std::uint8_t kFlags[] = {0};
    constexpr std::uint32_t kFirstBytes[] = {0, 1U << ('>' - 32), 0, 0, 0, 0, 0, 0};
    auto pieces = test_vocabulary::kPieces;
    pieces.model.float_sums = true;
    const auto& map = pieces.normalizer;
    const etch::SentencePieceNormalizer normalizer{
        map.units, map.texts, kPlain, has_map, {kText, kBegins, kIds, kFlags, kFirstBytes, 1}, pieces.model.unknown_id};
    run<etch::SentencePieceUnigramTokenizer>(pieces, normalizer, {etch::PrependScheme::doubled, true, false}, request);
}

// Several normalizers in a row, each there or not, in front of one of the models.
void run_sequence(std::uint8_t composition, std::uint8_t settings, const etch::NormalForm& form,
                  const Request& request) {
    const auto has = [settings](unsigned bit) { return (settings >> bit & 1U) != 0; };
    const bool folds = (composition & 0x40U) != 0;
    const etch::Folding fold = folds ? kFolding : etch::Folding{};
    const etch::RunRule spaces{has(3) ? 0x20U : etch::RunRule::kWhiteSpace, has(4) ? 2U : 1U, has(5) ? 0x20U : 0U};
    const etch::SequenceNormalizer steps{
        {has(0), has(1)},
        has(6) ? fold : etch::Folding{},
        has(7) ? spaces : etch::RunRule{},
        fold,
        has(3) ? form : etch::NormalForm{},
        has(4) ? fold : etch::Folding{},
        {has(1), has(0)},
        has(7) ? etch::RunRule{} : spaces,
        has(5) ? fold : etch::Folding{},
        {false, has(0)},
        kPlain,
        !folds,
    };
    const bool one = has(0);
    switch (composition % 7) {
        case 0:
            run<etch::SequenceByteLevelBpeTokenizer>(test_vocabulary::kBytesWithTokens, steps, {one}, request);
            break;
        case 1:
            run<etch::SequenceDigitsBpeTokenizer>(test_vocabulary::kBytesWithTokens, steps, {one, true}, request);
            break;
        case 2:
            run<etch::SequenceCl100kBpeTokenizer>(test_vocabulary::kBytesWithTokens, steps, {3}, request);
            break;
        case 3:
            run<etch::SequenceWordPieceTokenizer>(test_vocabulary::kUncased, steps, {}, request);
            break;
        case 4:
            run<etch::SequenceWordLevelTokenizer>(test_vocabulary::kWords, steps, {one, true, {}}, request);
            break;
        case 5:
            run<etch::SequenceCharacterBpeTokenizer>(test_vocabulary::kMerged, steps,
                                                     {test_vocabulary::kMerged.segmenter.prepend, one, false}, request);
            break;
        default:
            run<etch::SequenceUnigramTokenizer>(test_vocabulary::kPieces, steps,
                                                {test_vocabulary::kPieces.segmenter.prepend, one, has(1)}, request);
            break;
    }
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
    if ((composition & 0x80U) != 0) {
        run_sequence(composition, settings, form, request);
        return 0;
    }
    if ((composition & 0x40U) != 0) {
        run_split(composition, settings, form, request);
        return 0;
    }
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
                run<etch::CharacterWordLevelTokenizer>(test_vocabulary::kWords, {kFolding}, {one, true, {}}, request);
            }
            break;
        case 7: {
            if ((settings & 8) != 0) {
                const auto& pieces = other ? test_vocabulary::kPiecesOfBytes : test_vocabulary::kPieces;
                const etch::MetaspaceSegmenter words{pieces.segmenter.prepend, one, other};
                if ((settings & 32) != 0) {
                    run_sentencepiece(one, (settings & 64) != 0, request);
                } else if ((settings & 16) != 0) {
                    run<etch::FormCharsmapUnigramTokenizer>(pieces, {form, kFolding, pieces.normalizer}, words,
                                                            request);
                } else {
                    run<etch::NormalFormUnigramTokenizer>(pieces, {form}, words, request);
                }
                break;
            }
            const auto& merged = other ? test_vocabulary::kMergedText : test_vocabulary::kMerged;
            if ((settings & 64) != 0) {
                run<etch::LineWordBpeTokenizer>(merged, {}, {}, request);
            } else {
                run<etch::CharacterBpeTokenizer>(merged, merged.normalizer, {merged.segmenter.prepend, one, false},
                                                 request);
            }
            break;
        }
        default:
            if ((settings & 16) != 0) {
                run<etch::NormalFormWordPieceTokenizer>(test_vocabulary::kUncased, {form}, {}, request);
            } else if ((settings & 32) != 0) {  // words of letters: no special token is one
                run<etch::WordLevelTokenizer>(test_vocabulary::kUncased, {false, false, other, other},
                                              {true, false, {}}, request);
            } else if ((settings & 64) != 0) {
                run<etch::ByteTokenizer>(test_vocabulary::kBytesAlone, {}, {}, request);
            } else if ((settings & 8) != 0) {
                run<etch::SingleCharacterTokenizer>(test_vocabulary::kWords, {}, {}, request);
            } else {
                run<etch::WordLevelTokenizer>(test_vocabulary::kWords, {false, false, other, other}, {one, true, {}},
                                              request);
            }
            break;
    }
    return 0;
}
