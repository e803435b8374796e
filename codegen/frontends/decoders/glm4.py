# SPDX-License-Identifier: Apache-2.0
"""GLM 4 of 2025: the first one with norms behind the blocks, too. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import BlockNorms, Stack
from .glm import HARMLESS_KEYS, glm_stack

MODEL_TYPE = "glm4"
_NORMS = BlockNorms(behind_attention="post_self_attn_layernorm", behind_feed_forward="post_mlp_layernorm")

__all__ = ["HARMLESS_KEYS"]


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return glm_stack(config, tensors, prefix, vocabulary, tokens, _NORMS)


FAMILY = Family("Glm4", "TokenizersBackend", _stack, padding=151_329, tags="score")
