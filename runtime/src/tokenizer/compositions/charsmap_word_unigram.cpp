// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/models/unigram.hpp"
#include "tokenizer/normalizers/charsmap_normalizer.hpp"
#include "tokenizer/segmenters/split_segmenter.hpp"
#include "tokenizer/segmenters/word_segmenter.hpp"

ETCH_COMPOSITION(WordUnigramTokenizer)
