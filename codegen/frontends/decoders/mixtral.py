# SPDX-License-Identifier: Apache-2.0
"""Mixtral (Jiang et al., 2024, arXiv:2401.04088): Mistral's shape with experts in the place of feed-forward blocks.
Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.experts import OneByOne, Stacked
from ..shared.llama_stack import Biases, Form, Stack, causal_stack, window_in
from ..shared.masks import masks_of_past

MODEL_TYPE = "mixtral"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout"}
_COUNTS = ("num_local_experts", "num_experts")  # one key by two names
# Where the configuration does not say them.
_EXPERTS, _INNER, _KEY_HEADS, _THETA, _EPSILON = (8, 2), 14_336, 8, 1e6, 1e-5
_NAMES = (
    OneByOne("block_sparse_moe.gate", *(f"block_sparse_moe.experts.{{}}.{of}" for of in ("w1", "w3", "w2"))),
    Stacked("mlp.gate", "mlp.experts.gate_up_proj", "mlp.experts.down_proj"),
)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS)
    inner = config.positive_int("intermediate_size", _INNER, maximum=parts.MAX_WIDTH)
    form = Form(
        Biases(attention_inputs=False, attention_output=False, feed_forward=False),
        key_heads=_KEY_HEADS,
        theta=_THETA,
        epsilon=_EPSILON,
        mixture=experts.Mixture(count, top, inner, "chosen", _NAMES),
    )
    masks = masks_of_past([window_in(config)], tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


FAMILY = Family("Mixtral", "TokenizersBackend", _stack, tags="score")
