# SPDX-License-Identifier: Apache-2.0
"""Qwen3 with experts, as Qwen3-30B-A3B: in the place of feed-forward blocks, in all layers or some. Names as in
`transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.llama_stack import HEAD_NORMS, Biases, Form, Stack, causal_stack, window_in
from ..shared.masks import CAUSAL, masks_of_past
from .qwen2 import TOKENIZER_CLASS

MODEL_TYPE = "qwen3_moe"
# Training's, and of a window that is not used.
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout", "max_window_layers", "sliding_window"}
_COUNTS = ("num_experts", "num_local_experts")  # one key by two names
_EXPERTS, _INNER, _WINDOW = (128, 8), 768, 4096  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS)
    mixture = experts.Mixture(
        count,
        top,
        config.positive_int("moe_intermediate_size", _INNER, maximum=parts.MAX_WIDTH),
        experts.normalized(config),
        dense=experts.dense_layers(config),
    )
    bias = config.flag("attention_bias", False)
    form = Form(Biases(bias, bias, feed_forward=False), head_norms=HEAD_NORMS, mixture=mixture)
    window = window_in(config, _WINDOW) if config.flag("use_sliding_window", False) else None
    masks = CAUSAL if window is None else masks_of_past([window], tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


FAMILY = Family("Qwen3Moe", TOKENIZER_CLASS, _stack, tags="score")
