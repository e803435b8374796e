# SPDX-License-Identifier: Apache-2.0
"""OLMoE (Muennighoff et al., 2024, arXiv:2409.02060): experts in every layer, and norms of whole queries and keys.
Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "olmoe"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout"}
_COUNTS = ("num_experts", "num_local_experts")  # one key by two names
_EXPERTS, _INNER, _EPSILON = (64, 8), 2048, 1e-5  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    if config.values.get("clip_qkv") is not None:
        raise parts.refuse("config-not-supported", "clip_qkv: queries, keys and values that are cut off")
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS)
    inner = config.positive_int("intermediate_size", _INNER, maximum=parts.MAX_WIDTH)
    mixture = experts.Mixture(count, top, inner, experts.normalized(config))
    bias = config.flag("attention_bias", False)
    biases = Biases(bias, bias, feed_forward=False)
    form = Form(biases, row_norms=True, epsilon=_EPSILON, mixture=mixture)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Olmoe", "GPTNeoXTokenizer", _stack, padding=1)
