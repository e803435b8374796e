# SPDX-License-Identifier: Apache-2.0
"""Gemma 2: Gemma 3's layers without norms of heads, every other one with a window of the past, all turned by the same
angles; a tanh bounds scores and logits. Names as in `transformers`, whose eager attention has the bound of scores."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.gemma2_stack import NORMS, gemma2_stack, logits_cap
from ..shared.llama_stack import Stack

MODEL_TYPE = "gemma2"
# Training's, the library's own cache's, and what `hidden_activation` says in its place.
HARMLESS_KEYS = frozenset({"attention_dropout", "cache_implementation", "hidden_act"})
_BOTH_WAYS = "use_bidirectional_attention"


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    if config.values.get(_BOTH_WAYS):
        raise parts.refuse("config-not-supported", f"{_BOTH_WAYS}: rows that see those behind them")
    return gemma2_stack(config, tensors, prefix, vocabulary, tokens, NORMS)


FAMILY = Family("Gemma2", "GemmaTokenizer", _stack, logits_cap=logits_cap, tied=True, padding=0, tags="score")
