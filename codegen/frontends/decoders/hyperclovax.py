# SPDX-License-Identifier: Apache-2.0
"""HyperCLOVA X: Granite with norms also behind the blocks, and logits that their factor multiplies. Names as in
`transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_stack import Biases, BlockNorms, Form, Stack, causal_stack
from .granite import factors_in

MODEL_TYPE = "hyperclovax"
# Training's.
HARMLESS_KEYS = frozenset({"attention_dropout", "attn_pdrop", "embd_pdrop", "pretraining_tp", "resid_pdrop"})
_BEHIND = BlockNorms(behind_attention="post_norm1", behind_feed_forward="post_norm2")


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    norms = _BEHIND if config.flag("use_post_norm", True) else BlockNorms()
    form = Form(Biases.said_in(config), factors=factors_in(config, None), norms=norms)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


def _logits(config: Config) -> float:
    return parts.factor_of(config, "logits_scaling")


FAMILY = Family("HyperCLOVAX", AS_IN_JSON, _stack, logits_factor=_logits)
