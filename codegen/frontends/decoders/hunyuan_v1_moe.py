# SPDX-License-Identifier: Apache-2.0
"""Hunyuan with experts, as Hunyuan-A13B: the dense one's attention, and a block beside the experts that all rows go
through. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.experts import Beside, OneByOne, Stacked
from ..shared.llama_stack import Stack
from . import hunyuan_v1_dense

MODEL_TYPE = "hunyuan_v1_moe"
HARMLESS_KEYS = experts.HARMLESS_KEYS | hunyuan_v1_dense.HARMLESS_KEYS
_EXPERTS, _INNER = (1, 1), 11_008  # where the configuration does not say them
# One key by two names.
_COUNTS = ("num_experts", "num_local_experts")
_TOPS = ("moe_topk", "num_experts_per_tok")
_ROUTER, _PARTS = "mlp.gate.wg", ("gate_proj", "up_proj", "down_proj")
_NAMES = (
    OneByOne(_ROUTER, *(f"mlp.experts.{{}}.{of}" for of in _PARTS)),
    Stacked(_ROUTER, "mlp.experts.gate_up_proj", "mlp.experts.down_proj"),
)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(_of_all_layers(config), _COUNTS, _EXPERTS, _TOPS)
    inner = config.positive_int("intermediate_size", _INNER, maximum=parts.MAX_WIDTH)
    gate, up, down = (f"mlp.shared_mlp.{of}" for of in _PARTS)
    mixture = experts.Mixture(count, top, inner, "chosen", _NAMES, beside=Beside(inner, (gate, up), down))
    return hunyuan_v1_dense.stack(config, tensors, prefix, vocabulary, tokens, mixture)


def _of_all_layers(config: Config) -> Config:
    """With one number where moe_topk is a list of that of each layer."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    for key in _TOPS:
        tops = config.values.get(key)
        if not isinstance(tops, list):
            continue
        if len(tops) < layers or any(top != tops[0] for top in tops[:layers]):
            raise parts.refuse("config-not-supported", f"{key}: expected one number, or the same for {layers} layers")
        config = replace(config, values=config.values.changed(key, tops[0]))
    return config


FAMILY = Family("HunYuanMoEV1", "TokenizersBackend", _stack, padding=0)
