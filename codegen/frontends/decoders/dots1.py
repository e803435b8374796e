# SPDX-License-Identifier: Apache-2.0
"""dots.llm1: Qwen3's attention, and experts as DeepSeek-V3 chooses them. Names as in `transformers`, which has no
classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.layer_kinds import FULL, SLIDING, layer_kinds
from ..shared.llama_stack import HEAD_NORMS, Biases, Form, Stack, causal_stack, masks_by_kind, window_in
from ..shared.sigmoid_experts import Usual, mixture_in

MODEL_TYPE = "dots1"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout", "ep_size", "max_window_layers", "moe_layer_freq"}
_USUAL = Usual(experts=None, top=None, inner=1408, beside=None, normalized=False)
_KEY_HEADS, _WINDOW, _LAST = 32, 4096, 62  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    bias = config.flag("attention_bias", False)
    form = Form(
        Biases(bias, bias, feed_forward=False),
        head_norms=HEAD_NORMS,
        key_heads=None if config.values.get("num_key_value_heads", 0) is None else _KEY_HEADS,
        mixture=mixture_in(config, _USUAL, experts.first_dense(config, "first_k_dense_replace", 0)),
    )
    masks = masks_by_kind(config, _kinds(config), _WINDOW, tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


def _kinds(config: Config) -> tuple[str, ...]:
    """Of each layer: the last ones have a window of the past where one is said."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    first = layers if window_in(config, _WINDOW) is None else config.natural_int("max_window_layers", _LAST)
    return layer_kinds(config, tuple(FULL if layer < first else SLIDING for layer in range(layers)))


FAMILY = Family("Dots1", "TokenizersBackend", _stack)
