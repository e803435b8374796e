// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/models/byte_level_bpe.hpp"
#include "tokenizer/normalizers/sequence_normalizer.hpp"
#include "tokenizer/segmenters/split_segmenter.hpp"
#include "tokenizer/segmenters/word_segmenter.hpp"

ETCH_COMPOSITION(SequenceWordByteLevelBpeTokenizer)
