# SPDX-License-Identifier: Apache-2.0
"""Qwen1.5 and Qwen2 with experts, as Qwen1.5-MoE-A2.7B: beside those that are chosen one that all rows go through.
Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.experts import QWEN_SHARED, Shared
from ..shared.llama_stack import Biases, Form, Stack, causal_stack, masks_where_used
from .qwen2 import TOKENIZER_CLASS

MODEL_TYPE = "qwen2_moe"
# Training's, and of a window that is not used.
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout", "max_window_layers", "sliding_window"}
_COUNTS = ("num_experts",)
# Where the configuration does not say them.
_EXPERTS, _INNER, _SHARED, _KEY_HEADS, _WINDOW, _LAST = (60, 4), 1408, 5632, 16, 4096, 28


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS)
    inner, shared = (
        config.positive_int(key, usual, maximum=parts.MAX_WIDTH)
        for key, usual in (("moe_intermediate_size", _INNER), ("shared_expert_intermediate_size", _SHARED))
    )
    mixture = experts.Mixture(
        count,
        top,
        inner,
        experts.normalized(config),
        shared=Shared(shared, QWEN_SHARED),
        dense=experts.dense_layers(config),
    )
    bias = config.flag("qkv_bias", True)
    form = Form(Biases(bias, False, feed_forward=False), key_heads=_KEY_HEADS, mixture=mixture)
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    first = config.natural_int("max_window_layers", _LAST)
    windowed = [layer % 2 == 0 and layer < first for layer in range(layers)]
    masks = masks_where_used(config, windowed, _WINDOW, tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


FAMILY = Family("Qwen2Moe", TOKENIZER_CLASS, _stack, tags="score")
