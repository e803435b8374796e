# SPDX-License-Identifier: Apache-2.0
"""Seed-OSS: Llama's shape with biases of queries, keys and values. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "seed_oss"
HARMLESS_KEYS = frozenset({"attention_dropout", "pretraining_tp", "residual_dropout"})  # training's
_HEAD_WIDTH, _KEY_HEADS = 128, 8  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    biases = Biases(
        config.flag("attention_bias", True), config.flag("attention_out_bias", False), config.flag("mlp_bias", False)
    )
    form = Form(biases, head_width=_HEAD_WIDTH, key_heads=_KEY_HEADS)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("SeedOss", "TokenizersBackend", _stack, padding=1, tags="score")
