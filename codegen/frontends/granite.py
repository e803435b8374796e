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
_LARGEST = 65_536.0  # of a factor, or 1 / it


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    words, scores, blocks = (_factor(config, f"{of}_multiplier") for of in ("embedding", "attention", "residual"))
    form = Form(Biases.said_in(config), factors=Factors(words, scores, blocks))
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


def _logits(config: Config) -> float:
    return 1 / _factor(config, "logits_scaling")


def _factor(config: Config, key: str) -> float:
    """1 where the configuration does not say it."""
    factor = config.number(key, 1.0)
    if not 1 / _LARGEST <= factor <= _LARGEST:
        raise parts.refuse("config-out-of-range", f"{key} {factor:g}: expected 1/{_LARGEST:g} to {_LARGEST:g}")
    return factor


_FAMILY = Family("Granite", "TokenizersBackend", _stack, logits_factor=_logits)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
