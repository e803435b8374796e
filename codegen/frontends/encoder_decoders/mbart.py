# SPDX-License-Identifier: Apache-2.0
"""mBART: BART with norms before the blocks and one behind the last layer of encoder and decoder. Names as in
`transformers`."""

from __future__ import annotations

from ..bases.bart_family import Family
from ..shared.encoder_decoder import HARMLESS_KEYS, Form

__all__ = ["HARMLESS_KEYS"]

MODEL_TYPE = "mbart"
_SAID: dict[str, object] = {
    **dict.fromkeys(("normalize_before", "normalize_embedding", "add_final_layer_norm"), True),
    **dict.fromkeys(("static_position_embeddings", "do_blenderbot_90_layernorm"), False),
    "extra_pos_embeddings": 2,
}
_FORM = Form(embedding_norm=True, pre_norm=True)
FAMILY = Family("MBartForConditionalGeneration", "MBartTokenizer", _FORM, said=_SAID)
