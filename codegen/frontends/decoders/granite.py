# SPDX-License-Identifier: Apache-2.0
"""Granite: Llama's shape, with factors of words, scores, blocks and logits. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_stack import Biases, Factors, Form, Stack, causal_stack

MODEL_TYPE = "granite"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    form = Form(Biases.said_in(config), factors=factors_in(config, 1.0))
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


def factors_in(config: Config, scores: float | None) -> Factors:
    """Of words, scores and blocks; `scores` where the configuration does not say it, None: as Llama has it."""
    words, blocks = (parts.factor_of(config, f"{of}_multiplier") for of in ("embedding", "residual"))
    usual = scores is None and config.values.get("attention_multiplier") is None
    return Factors(words, None if usual else parts.factor_of(config, "attention_multiplier", scores or 1.0), blocks)


def logits_factor(config: Config) -> float:
    """What logits are multiplied by."""
    return 1 / parts.factor_of(config, "logits_scaling")


FAMILY = Family("Granite", AS_IN_JSON, _stack, logits_factor=logits_factor)
