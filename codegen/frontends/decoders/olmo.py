# SPDX-License-Identifier: Apache-2.0
"""OLMo 1: Llama's shape with layer norms that have no parameters. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "olmo"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_EPSILON = 1e-5  # no key says another


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    if config.values.get("clip_qkv") is not None:
        raise parts.refuse("config-not-supported", "clip_qkv: queries, keys and values within bounds")
    bias = config.flag("attention_bias", False)
    biases = Biases(bias, bias, feed_forward=False)
    form = Form(biases, epsilon=_EPSILON, epsilon_key=None, layer_norms=True, bare_norms=True)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Olmo", "GPTNeoXTokenizer", _stack, padding=1)
