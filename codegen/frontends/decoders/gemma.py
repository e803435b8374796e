# SPDX-License-Identifier: Apache-2.0
"""Gemma 1: Llama's shape with heads of a width of their own, larger words, and norms that multiply by 1 + weight. Names
as in `transformers`."""

from __future__ import annotations

import math

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.computed import one_more
from ..shared.llama_stack import Biases, Factors, Form, Stack, causal_stack

MODEL_TYPE = "gemma"
# Training's; `hidden_act` says what the library computes.
HARMLESS_KEYS = frozenset({"attention_dropout", "hidden_activation"})
_BOTH_WAYS = "use_bidirectional_attention"
_TANH = "gelu_pytorch_tanh"  # also what the first files, which say gelu, mean
_HEAD_WIDTH, _KEY_HEADS = 256, 16  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    if config.values.get(_BOTH_WAYS):
        raise parts.refuse("config-not-supported", f"{_BOTH_WAYS}: rows that see those behind them")
    bias = config.flag("attention_bias", False)
    form = Form(
        Biases(bias, bias, feed_forward=False),
        head_width=_HEAD_WIDTH,
        key_heads=_KEY_HEADS,
        activation=_TANH,
        renamed={"gelu": _TANH},
        gamma_of=one_more,
        factors=Factors(math.sqrt(config.positive_int("hidden_size"))),
    )
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Gemma", "GemmaTokenizer", _stack, tied=True, padding=0, tags="score")
