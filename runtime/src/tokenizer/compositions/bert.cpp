// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/segmenters/bert_segmenter.hpp"

ETCH_COMPOSITION(BertTokenizer)
