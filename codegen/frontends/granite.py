# SPDX-License-Identifier: Apache-2.0
"""Granite: Llama's shape, with factors of words, scores, blocks and logits. Names as in `transformers`."""

from __future__ import annotations

from ..load.config import Config
from ..load.safetensors import TensorFile
from .bases.decoder_family import Family
from .shared import parts
from .shared.llama_stack import Biases, Factors, Form, Stack, causal_stack

MODEL_TYPE = "granite"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    of_what = "embedding", "attention", "residual"
    words, scores, blocks = (parts.factor_of(config, f"{of}_multiplier") for of in of_what)
    form = Form(Biases.said_in(config), factors=Factors(words, scores, blocks))
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


def _logits(config: Config) -> float:
    return 1 / parts.factor_of(config, "logits_scaling")


_FAMILY = Family("Granite", "TokenizersBackend", _stack, logits_factor=_logits)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
