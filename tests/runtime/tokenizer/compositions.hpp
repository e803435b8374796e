// SPDX-License-Identifier: Apache-2.0
// The tokenizers that models come with, by name, and the code of those that a test calls.
#pragma once

#include "etch/tokenizer.hpp"
#include "tokenizer/composition.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Whole words: a WordPiece without pieces that go on a word.
using WordLevelTokenizer = Tokenizer<BertNormalizer, WhitespaceSegmenter, WordPiece>;
// Characters as models that spell words have them.
using SingleCharacterTokenizer = Tokenizer<NoNormalizer, SingleCharacterSegmenter, WordPiece>;
// No vocabulary: the bytes of a text.
using ByteTokenizer = Tokenizer<NoNormalizer, SingleCharacterSegmenter, Bytes>;
using CodePointTokenizer = Tokenizer<NoNormalizer, SingleCharacterSegmenter, CodePoints>;
using ByteLevelBpeTokenizer = Tokenizer<NoNormalizer, ByteLevelSegmenter, ByteLevelBpe>;
using DigitsBpeTokenizer = Tokenizer<NoNormalizer, DigitsSegmenter, ByteLevelBpe>;
using Cl100kBpeTokenizer = Tokenizer<NoNormalizer, Cl100kSegmenter, ByteLevelBpe>;
using NormalFormByteLevelBpeTokenizer = Tokenizer<NormalFormNormalizer, ByteLevelSegmenter, ByteLevelBpe>;
using NormalFormDigitsBpeTokenizer = Tokenizer<NormalFormNormalizer, DigitsSegmenter, ByteLevelBpe>;
using NormalFormCl100kBpeTokenizer = Tokenizer<NormalFormNormalizer, Cl100kSegmenter, ByteLevelBpe>;
using CharacterByteLevelBpeTokenizer = Tokenizer<CharacterNormalizer, ByteLevelSegmenter, ByteLevelBpe>;
using CharacterWordPieceTokenizer = Tokenizer<CharacterNormalizer, BertSegmenter, WordPiece>;
using NormalFormWordPieceTokenizer = Tokenizer<NormalFormNormalizer, BertSegmenter, WordPiece>;
using CharacterWordLevelTokenizer = Tokenizer<CharacterNormalizer, WhitespaceSegmenter, WordPiece>;
using UnigramTokenizer = Tokenizer<CharsmapNormalizer, MetaspaceSegmenter, Unigram>;
// Words of fairseq's BPE.
using LineWordBpeTokenizer = Tokenizer<NoNormalizer, LineWordSegmenter, CharacterBpe>;
// Words by Moses' rules.
using MosesBpeTokenizer = Tokenizer<NoNormalizer, MosesSegmenter, CharacterBpe>;
// Behind a normalization of punctuation: XLM's and FlauBERT's.
using EnglishMosesBpeTokenizer =
    Tokenizer<NoNormalizer, NormalizedMosesSegmenter<MosesLanguage::english>, CharacterBpe>;
using FrenchMosesBpeTokenizer =
    Tokenizer<NormalFormNormalizer, NormalizedMosesSegmenter<MosesLanguage::french>, CharacterBpe>;
template <MosesLanguage kLanguage>
using EscapedMosesBpeTokenizer = Tokenizer<NoNormalizer, NormalizedMosesSegmenter<kLanguage, true>, CharacterBpe>;
using CharacterBpeTokenizer = Tokenizer<CharsmapNormalizer, MetaspaceSegmenter, CharacterBpe>;
// As the `sentencepiece` library itself does it.
using SentencePieceUnigramTokenizer = Tokenizer<SentencePieceNormalizer, MetaspaceSegmenter, Unigram>;
using SentencePieceBpeTokenizer = Tokenizer<SentencePieceNormalizer, MetaspaceSegmenter, CharacterBpe>;
using FoldingUnigramTokenizer = Tokenizer<FoldingNormalizer, MetaspaceSegmenter, Unigram>;
using FormCharsmapUnigramTokenizer = Tokenizer<FormCharsmapNormalizer, MetaspaceSegmenter, Unigram>;
using NormalFormUnigramTokenizer = Tokenizer<NormalFormNormalizer, MetaspaceSegmenter, Unigram>;
using SequenceByteLevelBpeTokenizer = Tokenizer<SequenceNormalizer, ByteLevelSegmenter, ByteLevelBpe>;
using SequenceDigitsBpeTokenizer = Tokenizer<SequenceNormalizer, DigitsSegmenter, ByteLevelBpe>;
using SequenceCl100kBpeTokenizer = Tokenizer<SequenceNormalizer, Cl100kSegmenter, ByteLevelBpe>;
using SequenceCharacterBpeTokenizer = Tokenizer<SequenceNormalizer, MetaspaceSegmenter, CharacterBpe>;
using SequenceWordPieceTokenizer = Tokenizer<SequenceNormalizer, BertSegmenter, WordPiece>;
using SequenceWordLevelTokenizer = Tokenizer<SequenceNormalizer, WhitespaceSegmenter, WordPiece>;
using SequenceUnigramTokenizer = Tokenizer<SequenceNormalizer, MetaspaceSegmenter, Unigram>;
using ExpressionBpeTokenizer = Tokenizer<NoNormalizer, ExpressionSegmenter, ByteLevelBpe>;
using SequenceExpressionBpeTokenizer = Tokenizer<SequenceNormalizer, ExpressionSegmenter, ByteLevelBpe>;
// Behind pre-tokenizers that part a text at single characters.
using SplitByteLevelBpeTokenizer = Tokenizer<NoNormalizer, SplitSegmenter<ByteLevelSegmenter>, ByteLevelBpe>;
using SequenceSplitByteLevelBpeTokenizer =
    Tokenizer<SequenceNormalizer, SplitSegmenter<ByteLevelSegmenter>, ByteLevelBpe>;
using SequenceClipBpeTokenizer = Tokenizer<SequenceNormalizer, ClipSegmenter, ByteLevelBpe>;
using WordByteLevelBpeTokenizer = Tokenizer<NoNormalizer, SplitSegmenter<WordSegmenter>, ByteLevelBpe>;
using SequenceWordByteLevelBpeTokenizer = Tokenizer<SequenceNormalizer, SplitSegmenter<WordSegmenter>, ByteLevelBpe>;
using SplitWordPieceTokenizer = Tokenizer<BertNormalizer, SplitSegmenter<WordSegmenter>, WordPiece>;
using SequenceSplitWordPieceTokenizer = Tokenizer<SequenceNormalizer, SplitSegmenter<WordSegmenter>, WordPiece>;
using SequenceSplitCharacterBpeTokenizer =
    Tokenizer<SequenceNormalizer, SplitSegmenter<MetaspaceSegmenter>, CharacterBpe>;
using WordCharacterBpeTokenizer = Tokenizer<BertNormalizer, SplitSegmenter<WordSegmenter>, CharacterBpe>;
using SequenceWordCharacterBpeTokenizer = Tokenizer<SequenceNormalizer, SplitSegmenter<WordSegmenter>, CharacterBpe>;
using SplitUnigramTokenizer = Tokenizer<CharsmapNormalizer, SplitSegmenter<MetaspaceSegmenter>, Unigram>;
using SequenceSplitUnigramTokenizer = Tokenizer<SequenceNormalizer, SplitSegmenter<MetaspaceSegmenter>, Unigram>;
using WordUnigramTokenizer = Tokenizer<CharsmapNormalizer, SplitSegmenter<WordSegmenter>, Unigram>;
using SequenceWordUnigramTokenizer = Tokenizer<SequenceNormalizer, SplitSegmenter<WordSegmenter>, Unigram>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
