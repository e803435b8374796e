// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/models/bytes.hpp"

#include "composition.hpp"
#include "tokenizer/normalizers/no_normalizer.hpp"
#include "tokenizer/segmenters/single_character_segmenter.hpp"

ETCH_COMPOSITION(ByteTokenizer)
