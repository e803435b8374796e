# SPDX-License-Identifier: Apache-2.0
"""BART: learned positions, and a norm behind the embedding. A folder is that of a writer, or that of a class whose
decoder reads the text itself, which its class says. Names as in `transformers`."""

from __future__ import annotations

from ..bases.bart_family import Family
from ..shared.encoder_decoder import HARMLESS_KEYS as _HARMLESS
from ..shared.encoder_decoder import Form

MODEL_TYPE = "bart"
# What the tokenizer reads.
HARMLESS_KEYS = _HARMLESS | {"grapheme_chars", "phoneme_chars"}
# Labels are three, as of NLI, where a classifier names none.
FAMILY = Family("BartForConditionalGeneration", "RobertaTokenizer", Form(embedding_norm=True), of_rows="Bart", labels=3)
