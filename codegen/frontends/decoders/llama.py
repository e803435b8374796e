# SPDX-License-Identifier: Apache-2.0
"""Llama's shape, also with biases and with Llama 3's angles. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "llama"
HARMLESS_KEYS = frozenset({"attention_dropout", "pretraining_tp"})  # training's


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return causal_stack(config, tensors, prefix, vocabulary, tokens, Form(Biases.said_in(config)))


FAMILY = Family("Llama", "TokenizersBackend", _stack, tags="score")
