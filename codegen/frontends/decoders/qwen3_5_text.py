# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5's texts, dense ones: layers of linear attention by the gated delta rule (Yang et al. 2024,
arXiv:2412.06464) behind a short convolution, and layers of attention with a gate and angles for a part of each head.
Names as in `transformers`, whose token by token form is meant."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import QWEN3_5_TOKENIZER
from ..bases.decoder_family import Family
from ..shared.delta_attention import Delta, Inputs, taken
from ..shared.delta_stack import DeltaForm, delta_stack
from ..shared.llama_parts import LlamaParts
from ..shared.llama_stack import Stack

MODEL_TYPE = "qwen3_5_text"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_HEADS, _KEY_HEADS = 16, 4  # where the configuration does not say them


def inputs_of(made: LlamaParts, delta: Delta) -> Inputs:
    """A linear for each."""
    return Inputs(
        taken(made, "in_proj_qkv", delta.input),
        taken(made, "in_proj_z", delta.rows),
        taken(made, "in_proj_b", delta.heads),
        taken(made, "in_proj_a", delta.heads),
    )


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return delta_stack(config, tensors, prefix, vocabulary, tokens, DeltaForm(_HEADS, _KEY_HEADS, inputs_of))


FAMILY = Family("Qwen3_5Text", QWEN3_5_TOKENIZER, _stack, writer="Qwen3_5ForCausalLM")
