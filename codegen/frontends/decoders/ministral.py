# SPDX-License-Identifier: Apache-2.0
"""Ministral: Mistral, of whose layers some have the window of the past. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.layer_kinds import FULL, SLIDING, layer_kinds
from ..shared.llama_stack import Stack, causal_stack, masks_by_kind
from .mistral import FORM, HARMLESS_KEYS, WINDOW

MODEL_TYPE = "ministral"

__all__ = ["HARMLESS_KEYS"]


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    windows = "sliding_window" not in config or config.values.get("sliding_window") is not None
    kinds = layer_kinds(config, (SLIDING if windows else FULL,) * layers)
    masks = masks_by_kind(config, kinds, WINDOW, tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, FORM, masks)


FAMILY = Family("Ministral", "TokenizersBackend", _stack, tags="score")
