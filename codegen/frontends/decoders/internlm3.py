# SPDX-License-Identifier: Apache-2.0
"""InternLM 3: Llama by another name, with one key for the biases of all its linears. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "internlm3"
HARMLESS_KEYS = frozenset({"attention_dropout", "pretraining_tp"})  # training's
_HEAD_WIDTH, _KEY_HEADS, _EPSILON = 128, 2, 1e-5  # where the configuration does not say them
# Of attention and of feed-forward blocks, each by the library's name and by that of the first files.
_BIASES = (("attention_bias", "qkv_bias"), ("mlp_bias", "bias"))


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    said = [{config.flag(key, False) for key in keys if key in config} or {False} for keys in _BIASES]
    if len(set.union(*said)) > 1:
        names = ", ".join(key for keys in _BIASES for key in keys)
        raise parts.refuse("config-value", f"{names}: all linears have biases or none has: make them agree")
    bias = said[0].pop()
    form = Form(Biases(bias, bias, bias), head_width=_HEAD_WIDTH, key_heads=_KEY_HEADS, epsilon=_EPSILON)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Llama", AS_IN_JSON, _stack, first_writer="InternLM3ForCausalLM", padding=2, tags="score")
