# SPDX-License-Identifier: Apache-2.0
"""SmolLM3: Llama's shape, of whose layers some know no positions. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_stack import Biases, Form, Stack, causal_stack, masks_where_used

MODEL_TYPE = "smollm3"
# Training's, and of a window that is not used.
HARMLESS_KEYS = frozenset({"attention_dropout", "max_window_layers", "pretraining_tp", "sliding_window"})
_THETA, _EVERY = 2_000_000.0, 4  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    turned = _turned(config)
    form = Form(Biases.said_in(config), theta=_THETA, turned=turned)
    masks = masks_where_used(config, [not each for each in turned], None, tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


def _turned(config: Config) -> tuple[bool, ...]:
    """Of each layer whether its queries and keys are turned, as `no_rope_layers` says in spite of its name."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    said = config.values.get("no_rope_layers")
    if said is None:
        every = config.positive_int("no_rope_layer_interval", _EVERY)
        return tuple((layer + 1) % every != 0 for layer in range(layers))
    if not isinstance(said, list) or len(said) < layers or not all(type(one) is int and one in (0, 1) for one in said):
        raise parts.refuse("layers-out-of-range", f"no_rope_layers: expected 0 or 1 for each of {layers} layers")
    return tuple(map(bool, said[:layers]))


FAMILY = Family("SmolLM3", "TokenizersBackend", _stack, tied=True, padding=128_004, tags="score")
