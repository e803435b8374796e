// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/models/wordpiece.hpp"
#include "tokenizer/normalizers/no_normalizer.hpp"
#include "tokenizer/segmenters/single_character_segmenter.hpp"

ETCH_COMPOSITION(SingleCharacterTokenizer)
