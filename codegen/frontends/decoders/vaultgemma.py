# SPDX-License-Identifier: Apache-2.0
"""VaultGemma: Gemma 2 without norms behind the blocks. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.gemma2_stack import gemma2_stack, logits_cap
from ..shared.llama_stack import BlockNorms, Stack
from .gemma2 import HARMLESS_KEYS

MODEL_TYPE = "vaultgemma"
_NORMS = BlockNorms(before_feed_forward="pre_feedforward_layernorm")

__all__ = ["HARMLESS_KEYS"]


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return gemma2_stack(config, tensors, prefix, vocabulary, tokens, _NORMS)


# The class that is made where a folder names none; those of Google name GemmaTokenizer.
FAMILY = Family("VaultGemma", "TokenizersBackend", _stack, logits_cap=logits_cap, tied=True, padding=0)
