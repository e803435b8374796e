# SPDX-License-Identifier: Apache-2.0
"""Marian's translators in opus-mt's layout: sinusoids, unless the file has other tables, no norm behind
the embedding. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ..bases.bart_family import Family
from ..shared import encoder_decoder, parts

MODEL_TYPE = "marian"
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS
# What a folder may say and none of these models does.
_FLAGS = {
    **dict.fromkeys(("share_encoder_decoder_embeddings", "static_position_embeddings", "tie_word_embeddings"), True),
    **dict.fromkeys(("normalize_embedding", "normalize_before", "add_final_layer_norm"), False),
}


def _check(config: Config) -> None:
    for key, value in _FLAGS.items():
        if config.flag(key, value) is not value:
            raise parts.refuse("generation-not-supported", f"{key} is {str(not value).lower()}")
    vocabulary = config.positive_int("vocab_size")
    written = config.values.get("decoder_vocab_size")
    if written is not None and written != vocabulary:
        message = f"decoder_vocab_size is not vocab_size, {vocabulary}: source and target have one vocabulary"
        raise parts.refuse("generation-not-supported", message)


FAMILY = Family(
    "MarianMTModel",
    "MarianTokenizer",
    encoder_decoder.Form(),
    encoder_decoder.stored_or_computed_positions,
    check=_check,
)
