# SPDX-License-Identifier: Apache-2.0
"""CodeGen: GPT-J's layers, whose queries, values and keys are one linear of the file, a quarter of the heads after the
other. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Linear
from ..shared import parts
from ..shared.layer_parts import LayerParts
from .gpt2 import UNREAD
from .gptj import family

MODEL_TYPE = "codegen"
HARMLESS_KEYS = UNREAD | {"n_ctx", "scale_attn_weights"}  # the positions once more; what the class does not read
_QUARTERS = 4  # as the first CodeGen was trained on so many machines


def _projections(made: LayerParts, heads: int) -> tuple[Linear, Linear, Linear]:
    if heads % _QUARTERS:
        raise parts.refuse("heads-do-not-divide", f"n_head {heads} is not a multiple of {_QUARTERS}")
    order = ("query", "value", "key")
    query, value, key = made.projections("attn.qkv_proj", _QUARTERS, bias=False, order=order)
    return query, key, value


FAMILY = replace(family("CodeGen", _projections), own_masks=True)
