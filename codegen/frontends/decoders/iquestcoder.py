# SPDX-License-Identifier: Apache-2.0
"""IQuest Coder: Llama by another name. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "iquestcoder"
HARMLESS_KEYS = frozenset({"attention_dropout", "pretraining_tp"})  # training's
_HEAD_WIDTH, _KEY_HEADS, _EPSILON = 128, 8, 1e-5  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    if config.values.get("clip_qkv") is not None:
        raise parts.refuse("config-not-supported", "clip_qkv: queries, keys and values within bounds")
    if config.values.get("use_sliding_window"):
        raise parts.refuse("config-not-supported", "use_sliding_window: the library has no windows of this family")
    form = Form(Biases.said_in(config), head_width=_HEAD_WIDTH, key_heads=_KEY_HEADS, epsilon=_EPSILON)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Llama", AS_IN_JSON, _stack, first_writer="IQuestCoderForCausalLM", tags="score")
