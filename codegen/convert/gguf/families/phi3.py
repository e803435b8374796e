# SPDX-License-Identifier: Apache-2.0
"""Phi 3: Llama's shape with linears of the same rows stored as one, and factors of angles for long texts."""

from __future__ import annotations

from typing import Any

from .angles import linear_factor, theta_of
from .family import Config, Family, Opened
from .llama_shape import LAYERS, NORMS, OUTER, head_width, sizes, without_head_width

_LONG, _SHORT = "rope_factors_long.weight", "rope_factors_short.weight"
_TYPE = "longrope"


def _config(opened: Opened) -> Config:
    meta = opened.meta
    window = meta.count("attention.sliding_window", 0, least=0)
    return {
        **without_head_width(opened, sizes(opened)),
        "hidden_act": "silu",
        "sliding_window": window or None,
        "original_max_position_embeddings": _first(opened),
        "rope_parameters": _angles(opened, head_width(opened)),
    }


def _first(opened: Opened) -> int:
    return opened.meta.count("rope.scaling.original_context_length", opened.meta.count("context_length"))


def _angles(opened: Opened, width: int) -> dict[str, Any]:
    meta = opened.meta
    turned = meta.count("rope.dimension_count", width)
    if turned > width:
        raise meta.refuse("gguf-key", f"rope.dimension_count {turned} is more than a head's {width} values")
    common: dict[str, Any] = {"rope_theta": theta_of(opened), "partial_rotary_factor": turned / width}
    long = opened.has(_LONG) and opened.has(_SHORT)
    if not (long and meta.text("rope.scaling.type", _TYPE) == _TYPE) and linear_factor(opened) != 1:
        raise meta.refuse("gguf-not-supported", "rope.scaling.factor: angles that are slower")
    if not long:
        return {"rope_type": "default", **common}
    found = {
        "rope_type": _TYPE,
        **common,
        "long_factor": [float(str(value)) for value in opened.vector(_LONG)],
        "short_factor": [float(str(value)) for value in opened.vector(_SHORT)],
    }
    if meta.has("rope.scaling.attn_factor"):
        found["attention_factor"] = meta.number("rope.scaling.attn_factor")
    return found


FAMILIES = {
    "phi3": Family(
        "phi3",
        ("Phi3ForCausalLM",),
        _config,
        OUTER,
        NORMS
        | {
            "attn_qkv": "self_attn.qkv_proj",
            "attn_output": "self_attn.o_proj",
            "ffn_up": "mlp.gate_up_proj",
            "ffn_down": "mlp.down_proj",
        },
        LAYERS,
        unread=frozenset({_LONG, _SHORT}),
    )
}
