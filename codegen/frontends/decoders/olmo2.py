# SPDX-License-Identifier: Apache-2.0
"""OLMo 2: Llama's names, with norms behind the blocks, none before them, and norms of whole queries and keys. Names as
in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared.llama_stack import BEHIND, Biases, Form, Stack, causal_stack

MODEL_TYPE = "olmo2"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_EPSILON = 1e-5  # where the configuration does not say it


def form_in(config: Config) -> Form:
    """Of OLMo 2 and 3."""
    bias = config.flag("attention_bias", False)
    return Form(Biases(bias, bias, feed_forward=False), row_norms=True, epsilon=_EPSILON, norms=BEHIND)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form_in(config))


FAMILY = Family("Olmo2", AS_IN_JSON, _stack, padding=1)
