# SPDX-License-Identifier: Apache-2.0
"""Qwen3-Next, as Qwen3-Next-80B-A3B: the layers that Qwen 3.5 has, too, with experts in the place of feed-forward
blocks, in all layers or some, and one that all rows go through. Names as in `transformers`."""

from __future__ import annotations

from itertools import pairwise

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.computed import rows_of_groups
from ..shared.delta_attention import Delta, Inputs, taken
from ..shared.delta_stack import DeltaForm, delta_stack
from ..shared.llama_parts import LlamaParts
from ..shared.llama_stack import Stack
from .qwen2 import TOKENIZER_CLASS

MODEL_TYPE = "qwen3_next"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout", "intermediate_size"}  # where no layer is dense
_COUNTS = ("num_experts", "num_local_experts")  # one key by two names
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _EXPERTS, _INNER = 16, 2, (512, 10), 512


def _inputs_of(made: LlamaParts, delta: Delta) -> Inputs:
    """Two linears, whose outputs are those of a head of keys and then of the next one: its queries, keys, values and
    gates, those of all heads that share it; beta and decay."""
    share = delta.heads // delta.key_heads
    keys, rows = 2 * delta.key_width, share * delta.value_width
    groups = (0, delta.key_width, keys, keys + rows, keys + 2 * rows)
    query, key, value, gate = pairwise(groups)
    both = taken(made, "in_proj_qkvz", delta.key_heads * groups[-1])
    rates = taken(made, "in_proj_ba", 2 * delta.heads)
    return Inputs(
        tuple(rows_of_groups(array, delta.key_heads, query, key, value) for array in both),
        tuple(rows_of_groups(array, delta.key_heads, gate) for array in both),
        tuple(rows_of_groups(array, delta.key_heads, (0, share)) for array in rates),
        tuple(rows_of_groups(array, delta.key_heads, (share, 2 * share)) for array in rates),
    )


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS)
    inner, shared = (
        config.positive_int(key, _INNER, maximum=parts.MAX_WIDTH)
        for key in ("moe_intermediate_size", "shared_expert_intermediate_size")
    )
    mixture = experts.Mixture(
        count,
        top,
        inner,
        experts.normalized(config, usual=True),
        shared=experts.Shared(shared, experts.QWEN_SHARED),
        dense=experts.dense_layers(config),
    )
    form = DeltaForm(_HEADS, _KEY_HEADS, _inputs_of, mixture)
    return delta_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Qwen3Next", TOKENIZER_CLASS, _stack, tags="score")
