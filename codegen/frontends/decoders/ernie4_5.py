# SPDX-License-Identifier: Apache-2.0
"""ERNIE 4.5, the dense one: Llama's shape, whose angles turn two neighbours. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "ernie4_5"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
# Where the configuration does not say them.
_HEAD_WIDTH, _KEY_HEADS, _THETA, _EPSILON = 128, 2, 500_000.0, 1e-5


def form_in(config: Config) -> Form:
    """Of the dense ones."""
    bias = config.flag("use_bias", False)
    return Form(
        Biases(bias, bias, bias),
        head_width=_HEAD_WIDTH,
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        theta=_THETA,
        pairs=True,
    )


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form_in(config))


FAMILY = Family("Ernie4_5", "TokenizersBackend", _stack, tied=True, padding=0)
