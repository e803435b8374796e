// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/normalizers/character_normalizer.hpp"
#include "tokenizer/segmenters/bert_segmenter.hpp"

ETCH_COMPOSITION(CharacterWordPieceTokenizer)
