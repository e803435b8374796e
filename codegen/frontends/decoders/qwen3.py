# SPDX-License-Identifier: Apache-2.0
"""Qwen3, its embeddings too: Llama's shape with norms of each head's queries and keys. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import HEAD_NORMS, Biases, Form, Stack, causal_stack
from .qwen2 import HARMLESS_KEYS, TOKENIZER_CLASS, masks_in

MODEL_TYPE = "qwen3"
_HEAD_WIDTH = 128  # where the configuration does not say it

__all__ = ["HARMLESS_KEYS"]


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    attention = config.flag("attention_bias", False)
    form = Form(Biases(attention, attention, feed_forward=False), head_norms=HEAD_NORMS, head_width=_HEAD_WIDTH)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks_in(config, tokens))


FAMILY = Family("Qwen3", TOKENIZER_CLASS, _stack, tags="score")
