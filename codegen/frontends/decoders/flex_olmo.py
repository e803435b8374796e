# SPDX-License-Identifier: Apache-2.0
"""FlexOlmo (Shi et al., 2025, arXiv:2507.07024): OLMo 2's layers, whose norms come behind the blocks, with OLMoE's
experts. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from dataclasses import replace

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.llama_stack import Stack, causal_stack
from .olmo2 import form_in

MODEL_TYPE = "flex_olmo"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout"}
_COUNTS = ("num_experts", "num_local_experts")  # one key by two names
# Where the configuration does not say them.
_EXPERTS, _INNER, _THETA, _EPSILON = (7, 5), 11_008, 500_000.0, 1e-6


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS)
    inner = config.positive_int("intermediate_size", _INNER, maximum=parts.MAX_WIDTH)
    mixture = experts.Mixture(count, top, inner, experts.normalized(config))
    form = replace(form_in(config), mixture=mixture, theta=_THETA, epsilon=_EPSILON)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("FlexOlmo", AS_IN_JSON, _stack, padding=100_277)
