# SPDX-License-Identifier: Apache-2.0
"""PEGASUS: mBART without a norm behind the embedding, and with Marian's sinusoids, where the file has no tables that
count in their place. Names as in `transformers`."""

from __future__ import annotations

from ..bases.bart_family import Family
from ..shared import encoder_decoder

MODEL_TYPE = "pegasus"
# Of positions that are learned.
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS | {"extra_pos_embeddings"}
_SAID: dict[str, object] = {
    **dict.fromkeys(("normalize_before", "add_final_layer_norm", "static_position_embeddings"), True),
    **dict.fromkeys(("normalize_embedding", "do_blenderbot_90_layernorm"), False),
}


FAMILY = Family(
    "PegasusForConditionalGeneration",
    "PegasusTokenizer",
    encoder_decoder.Form(pre_norm=True),
    encoder_decoder.stored_or_computed_positions,
    said=_SAID,
)
