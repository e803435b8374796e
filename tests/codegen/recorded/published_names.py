# SPDX-License-Identifier: Apache-2.0
"""What files of published code call the parts of the library's GTE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

Tensors = dict[str, torch.Tensor]
_ATTENTION = "self_attn."


@dataclass(frozen=True)
class Names:
    """A part of a file by those of the library that it has, one below the other; all of a layer is below `layers` and
    its number. `beside` are further parts of a layer."""

    prefix: str  # of the encoder in a file with a head
    attention: Mapping[str, tuple[str, ...]]
    attention_output: str
    attention_norm: str
    gate: str
    gate_first: bool
    output: str
    output_norm: str
    beside: Mapping[str, str] = field(default_factory=dict)

    def of_layer(self) -> dict[str, tuple[str, ...]]:
        """Each part of a layer, by those of the library."""
        both = ("mlp.gate_proj", "mlp.up_proj")
        return {
            **self.attention,
            self.attention_output: (f"{_ATTENTION}o_proj",),
            self.attention_norm: ("post_attention_layernorm",),
            self.gate: both if self.gate_first else both[::-1],
            self.output: ("mlp.down_proj",),
            self.output_norm: ("post_mlp_layernorm",),
            **{theirs: (ours,) for theirs, ours in self.beside.items()},
        }


_INPUTS = tuple(f"{_ATTENTION}{name}_proj" for name in "qkv")
NEW = Names(
    "new.",
    {"attention.qkv_proj": _INPUTS},
    *("attention.o_proj", "attn_ln", "mlp.up_gate_proj", False, "mlp.down_proj", "mlp_ln"),
)
NEW_APART = Names(
    "new.",
    {f"attention.{name}_proj": (source,) for name, source in zip("qkv", _INPUTS, strict=True)},
    *("attention.o_proj", "attn_ln", "mlp.up_gate_proj", False, "mlp.down_proj", "mlp_ln"),
)
_OF_BERT = {
    f"attention.self.{name}": (source,) for name, source in zip(("query", "key", "value"), _INPUTS, strict=True)
}
_GATED = ("attention.output.dense", "attention.output.LayerNorm", "mlp.gated_layers", True, "mlp.wo", "mlp.layernorm")
JINA = Names("bert.", _OF_BERT, *_GATED)
MOSAIC = Names("bert.", {"attention.self.Wqkv": _INPUTS}, *_GATED)
_WITHIN = f"{_ATTENTION}attention."
JINA_CODE = Names(
    "bert.",
    {
        "attention.self.query": (f"{_WITHIN}q_proj.0",),
        "attention.self.key": (f"{_WITHIN}k_proj.0",),
        "attention.self.value": (f"{_WITHIN}v_proj",),
    },
    *("attention.output.dense", "layer_norm_1", "mlp.up_gated_layer", False, "mlp.down_layer", "layer_norm_2"),
    {
        "attention.output.dense": f"{_WITHIN}o_proj",
        "attention.output.LayerNorm": f"{_ATTENTION}norm",
        "attention.self.layer_norm_q": f"{_WITHIN}q_proj.1",
        "attention.self.layer_norm_k": f"{_WITHIN}k_proj.1",
    },
)


def renamed(state: Tensors, names: Names, layers: int) -> Tensors:
    """All tensors by the names of the file."""
    whole = any(name.startswith("gte.") for name in state)
    rest = {name.removeprefix("gte."): tensor for name, tensor in state.items()}
    prefix = names.prefix if whole else ""
    found: Tensors = {}
    for i in range(layers):
        for theirs, ours in names.of_layer().items():
            for part in ("weight", "bias"):
                taken = [rest.pop(f"layers.{i}.{each}.{part}", None) for each in ours]
                there = [tensor for tensor in taken if tensor is not None]
                if there:
                    found[f"{prefix}encoder.layer.{i}.{theirs}.{part}"] = torch.cat(there)
    heads = {name: tensor for name, tensor in rest.items() if name.startswith("classifier.")}
    return found | heads | {f"{prefix}{name}": tensor for name, tensor in rest.items() if name not in heads}
