// SPDX-License-Identifier: Apache-2.0
#include "composition.hpp"
#include "tokenizer/models/unigram.hpp"
#include "tokenizer/normalizers/charsmap_normalizer.hpp"
#include "tokenizer/segmenters/metaspace_segmenter.hpp"

ETCH_COMPOSITION(UnigramTokenizer)
