# SPDX-License-Identifier: Apache-2.0
"""Blenderbot (Roller et al., 2020, arXiv:2004.13637) with more than 90M parameters: mBART without a norm behind the
embedding, with as many rows of positions as there are positions. Names as in `transformers`."""

from __future__ import annotations

from ..bases.bart_family import Family
from ..shared import encoder_decoder
from ..shared.encoder_decoder import Form, positions_from_first

MODEL_TYPE = "blenderbot"
# Of the other layer norms.
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS | {"do_blenderbot_90_layernorm"}
_SAID: dict[str, object] = {
    **dict.fromkeys(("normalize_before", "add_final_layer_norm"), True),
    **dict.fromkeys(("normalize_embedding", "static_position_embeddings", "extra_layer_norm"), False),
    "extra_pos_embeddings": 0,
    "layernorm_variant": "prelayernorm",
}
FAMILY = Family(
    "BlenderbotForConditionalGeneration", "BlenderbotTokenizer", Form(pre_norm=True), positions_from_first, said=_SAID
)
