# SPDX-License-Identifier: Apache-2.0
"""PLBART (Ahmad et al., 2021, arXiv:2103.06333), BART for programs: words are scaled, and the decoder of a classifier
reads the last token of a text before its first. Names as in `transformers`.

The library finds that last token by how many are no padding: a padding token that a text spells out counts as any other
here.
"""

from __future__ import annotations

from ..bases.architecture import CLASSIFIER_ENDING
from ..bases.bart_family import Family
from ..shared.encoder_decoder import HARMLESS_KEYS, Form

__all__ = ["HARMLESS_KEYS"]

MODEL_TYPE = "plbart"
FAMILY = Family(
    "PLBartForConditionalGeneration",
    "PLBartTokenizer",
    Form(embedding_norm=True, scales_words=True),
    of_rows="PLBart",
    endings=(CLASSIFIER_ENDING,),
    turns=True,
)
