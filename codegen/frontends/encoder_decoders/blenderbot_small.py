# SPDX-License-Identifier: Apache-2.0
"""Blenderbot of 90M parameters: BART with as many rows of positions as there are positions, which a decoder adds behind
the norm of its words, which are not scaled there. Its own tokenizer is not read. Names as in `transformers`."""

from __future__ import annotations

from ..bases.bart_family import Family
from ..shared import encoder_decoder
from ..shared.encoder_decoder import Form, positions_from_first

MODEL_TYPE = "blenderbot-small"
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS
_SAID: dict[str, object] = {
    **dict.fromkeys(("normalize_embedding", "do_blenderbot_90_layernorm"), True),
    **dict.fromkeys(
        ("normalize_before", "add_final_layer_norm", "static_position_embeddings", "extra_layer_norm"), False
    ),
    "extra_pos_embeddings": 0,
    "layernorm_variant": "xlm",
}
_FORM = Form(embedding_norm=True, norm_of_written_words=True)
FAMILY = Family(
    "BlenderbotSmallForConditionalGeneration", "BlenderbotSmallTokenizer", _FORM, positions_from_first, said=_SAID
)
