# SPDX-License-Identifier: Apache-2.0
"""M2M-100 and what has its shape, NLLB's dense models and SMaLL-100: mBART without a norm behind the embedding, with
tensor2tensor's sinusoids and without a bias of the logits. Names as in `transformers`.

Its sinusoids are those of exact angles; the library's are of angles in float32. A padding token that a text spells out,
or a model writes, counts as any other here; `transformers` gives it no position of its own.
"""

from __future__ import annotations

from functools import cache

from ...ir.graph import Parameter, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.bart_family import Family
from ..shared import encoder_decoder, parts
from ..shared.sinusoids import closed_sinusoids

MODEL_TYPE = "m2m_100"
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS
_FORM = encoder_decoder.Form(pre_norm=True, logits_bias=False, activation="relu", scales_words=True)
_LEAST_WIDTH = 4  # of two rates


def _padding(config: Config) -> int:
    """Positions begin behind its id."""
    return config.natural_int("pad_token_id", 1, maximum=parts.MAX_WIDTH)


def _positions(config: Config, tensors: TensorFile) -> encoder_decoder.Positions:
    # Older files have them.
    tensors.ignore(*(f"model.{of}.embed_positions.weights" for of in ("encoder", "decoder")))
    first, count = _padding(config) + 1, encoder_decoder.position_count(config)

    @cache
    def table(width: int) -> Parameter:
        if width < _LEAST_WIDTH:
            raise parts.refuse("config-out-of-range", f"d_model is {width}: positions need {_LEAST_WIDTH} at least")
        return closed_sinusoids("position_embeddings", range(first, first + count), width)

    return lambda of, width: Term(table(width), "positions")


FAMILY = Family("M2M100ForConditionalGeneration", "M2M100Tokenizer", _FORM, _positions, padding=_padding)
