// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/models/character_bpe.hpp"
#include "tokenizer/normalizers/no_normalizer.hpp"
#include "tokenizer/segmenters/line_word_segmenter.hpp"

ETCH_COMPOSITION(LineWordBpeTokenizer)
