# SPDX-License-Identifier: Apache-2.0
"""Granite with experts, and beside them a block that all rows go through. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.experts import Beside
from ..shared.llama_stack import Form, Stack, causal_stack
from . import granitemoe
from .granite import logits_factor

MODEL_TYPE = "granitemoeshared"
HARMLESS_KEYS = granitemoe.HARMLESS_KEYS


def form_in(config: Config) -> Form:
    """Of Granite's experts and the block beside them."""
    inner = config.natural_int("shared_intermediate_size", 0, maximum=parts.MAX_WIDTH)
    beside = Beside(inner, ("shared_mlp.input_linear",), "shared_mlp.output_linear") if inner else None
    return granitemoe.form_in(config, beside)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form_in(config))


FAMILY = Family("GraniteMoeShared", AS_IN_JSON, _stack, logits_factor=logits_factor)
