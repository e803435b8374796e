# SPDX-License-Identifier: Apache-2.0
"""Helium: Llama's shape, whose angles turn two neighbours. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "helium"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
# Where the configuration does not say them.
_HEAD_WIDTH, _KEY_HEADS, _THETA, _EPSILON = 128, 20, 100_000.0, 1e-8


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    form = Form(
        Biases(
            config.flag("attention_bias", False), attention_output=False, feed_forward=config.flag("mlp_bias", False)
        ),
        head_width=_HEAD_WIDTH,
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        theta=_THETA,
        pairs=True,
    )
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Helium", "TokenizersBackend", _stack, padding=3, tags="score")
