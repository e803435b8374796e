# SPDX-License-Identifier: Apache-2.0
"""Qwen2 and 2.5: Llama's shape with biases of queries, keys and values. Names as in `transformers`."""

from __future__ import annotations

from ..load.config import Config
from ..load.safetensors import TensorFile
from .shared import parts
from .shared.decoder_family import Family
from .shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "qwen2"
# Training's; of a window, which is refused where it is used.
HARMLESS_KEYS = frozenset({"attention_dropout", "max_window_layers", "sliding_window"})
TOKENIZER_CLASS = "Qwen2Tokenizer"
_FORM = Form(Biases(attention_inputs=True, attention_output=False, feed_forward=False))


def check_window(config: Config) -> None:
    """Refuses layers that see a part of the text."""
    kinds = config.values.get("layer_types") or ()
    if config.flag("use_sliding_window", False) or "sliding_attention" in kinds:
        raise parts.refuse("config-not-supported", "use_sliding_window or layer_types: attention in a window")


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    check_window(config)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, _FORM)


_FAMILY = Family("Qwen2", TOKENIZER_CLASS, _stack)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
