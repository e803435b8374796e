# SPDX-License-Identifier: Apache-2.0
"""Mistral, its embeddings too: Llama's shape without biases, and a window of the past. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import Biases, Form, Stack, causal_stack, window_in
from ..shared.masks import masks_of_past

MODEL_TYPE = "mistral"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
WINDOW = 4096  # where the configuration does not say it; null: there is none
FORM = Form(Biases(attention_inputs=False, attention_output=False, feed_forward=False))


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    masks = masks_of_past([window_in(config, WINDOW)], tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, FORM, masks)


FAMILY = Family("Mistral", "TokenizersBackend", _stack, tags="score")
