# SPDX-License-Identifier: Apache-2.0
"""Qwen2 and 2.5: Llama's shape with biases of queries, keys and values, and a window of the past where it is used.
Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_stack import Biases, Form, Stack, causal_stack, masks_where_used
from ..shared.masks import Masks

MODEL_TYPE = "qwen2"
# Training's, and of a window that is not used.
HARMLESS_KEYS = frozenset({"attention_dropout", "max_window_layers", "sliding_window"})
TOKENIZER_CLASS = "Qwen2Tokenizer"
_FORM = Form(Biases(attention_inputs=True, attention_output=False, feed_forward=False))
_WINDOW, _FIRST = 4096, 28  # where the configuration does not say them


def masks_in(config: Config, tokens: int) -> Masks:
    """Those layers have a window of the past, where there is one, that come behind the first max_window_layers."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    first = config.natural_int("max_window_layers", _FIRST)
    return masks_where_used(config, [layer >= first for layer in range(layers)], _WINDOW, tokens)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return causal_stack(config, tensors, prefix, vocabulary, tokens, _FORM, masks_in(config, tokens))


FAMILY = Family("Qwen2", TOKENIZER_CLASS, _stack, tags="score")
