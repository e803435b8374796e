# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5's texts with experts, as those of Qwen3.5-35B-A3B: in every layer, and beside them one that all rows go
through. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_QWEN3_5
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.delta_stack import DeltaForm, delta_stack
from ..shared.llama_stack import Stack
from .qwen3_5_text import inputs_of

MODEL_TYPE = "qwen3_5_moe_text"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout"}
_COUNTS = ("num_experts", "num_local_experts")  # one key by two names
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _EXPERTS, _INNER = 16, 2, (256, 8), 512


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS)
    inner, shared = (
        config.positive_int(key, _INNER, maximum=parts.MAX_WIDTH)
        for key in ("moe_intermediate_size", "shared_expert_intermediate_size")
    )
    mixture = experts.Mixture(count, top, inner, "chosen", shared=experts.Shared(shared, experts.QWEN_SHARED))
    form = DeltaForm(_HEADS, _KEY_HEADS, inputs_of, mixture)
    return delta_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Qwen3_5MoeText", AS_QWEN3_5, _stack, writer="Qwen3_5MoeForCausalLM")
