// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/normalizers/sequence_normalizer.hpp"
#include "tokenizer/segmenters/bert_segmenter.hpp"

ETCH_COMPOSITION(SequenceWordPieceTokenizer)
