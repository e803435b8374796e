// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/models/wordpiece.hpp"
#include "tokenizer/normalizers/character_normalizer.hpp"
#include "tokenizer/segmenters/whitespace_segmenter.hpp"

ETCH_COMPOSITION(CharacterWordLevelTokenizer)
