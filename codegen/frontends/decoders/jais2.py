# SPDX-License-Identifier: Apache-2.0
"""Jais 2: Llama's shape with layer norms, biases, and no gate but squares behind the activation. Names as in
`transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import GPT2_TOKENIZER
from ..bases.decoder_family import Family
from ..shared.llama_stack import Biases, Form, Stack, causal_stack, with_squares

MODEL_TYPE = "jais2"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    attention = config.flag("attention_bias", True)
    form = Form(
        Biases(attention, attention, config.flag("mlp_bias", True)),
        layer_norms=True,
        epsilon=1e-5,
        epsilon_key="layer_norm_eps",
    )
    return causal_stack(config, tensors, prefix, vocabulary, tokens, with_squares(config, form))


FAMILY = Family("Jais2", GPT2_TOKENIZER, _stack)
