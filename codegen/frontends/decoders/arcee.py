# SPDX-License-Identifier: Apache-2.0
"""Arcee: Llama's shape with no gate but squares behind the activation. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import Biases, Form, Stack, causal_stack, with_squares

MODEL_TYPE = "arcee"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    form = with_squares(config, Form(Biases.said_in(config), epsilon=1e-5))
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Arcee", "TokenizersBackend", _stack, tags="score")
