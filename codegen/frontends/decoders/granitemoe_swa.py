# SPDX-License-Identifier: Apache-2.0
"""Granite with experts, windows of the past in most layers, a learned sink of each head, and a theta of each layer.
Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import Stack
from . import granitemoe
from .granite import logits_factor
from .granite_swa import stack_with_sinks
from .granitemoeshared import form_in

MODEL_TYPE = "granitemoe_swa"
HARMLESS_KEYS = granitemoe.HARMLESS_KEYS


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return stack_with_sinks(config, tensors, prefix, vocabulary, tokens, form_in(config))


FAMILY = Family("GraniteMoeSWA", "TokenizersBackend", _stack, logits_factor=logits_factor)
