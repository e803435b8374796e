// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/models/byte_level_bpe.hpp"
#include "tokenizer/normalizers/normal_form_normalizer.hpp"
#include "tokenizer/segmenters/digits_segmenter.hpp"

ETCH_COMPOSITION(NormalFormDigitsBpeTokenizer)
