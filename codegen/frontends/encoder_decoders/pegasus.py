# SPDX-License-Identifier: Apache-2.0
"""PEGASUS: mBART without a norm behind the embedding, and with Marian's sinusoids, where the file has no tables that
count in their place. Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.bart_family import Family
from ..shared import encoder_decoder

MODEL_TYPE = "pegasus"
# Of positions that are learned.
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS | {"extra_pos_embeddings"}
_SAID: dict[str, object] = {
    **dict.fromkeys(("normalize_before", "add_final_layer_norm", "static_position_embeddings"), True),
    **dict.fromkeys(("normalize_embedding", "do_blenderbot_90_layernorm"), False),
}


def _positions(config: Config, tensors: TensorFile) -> encoder_decoder.Positions:
    stored, computed = encoder_decoder.learned_positions(config, tensors, 0), encoder_decoder.computed_positions(config)

    def positions(of: str, width: int) -> Term:
        has_table = encoder_decoder.position_table(of) in tensors
        return stored(of, width) if has_table else computed(of, width)

    return positions


_FORM = encoder_decoder.Form(pre_norm=True)
FAMILY = Family("PegasusForConditionalGeneration", "PegasusTokenizer", _FORM, _positions, said=_SAID)
