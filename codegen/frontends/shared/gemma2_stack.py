# SPDX-License-Identifier: Apache-2.0
"""Gemma 2's layers, of a decoder or of an encoder, and what Gemma 3 has of them."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...ir.graph import Op
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .computed import one_more
from .layer_kinds import FULL, SLIDING, layer_kinds, windows_by_kind
from .llama_parts import LlamaParts
from .llama_stack import (
    MAX_POSITIONS,
    Biases,
    BlockNorms,
    Factors,
    Form,
    Stack,
    cap_of,
    causal_stack,
    masks_by_kind,
)
from .masks import masks_both_ways

NORMS = BlockNorms(
    before_feed_forward="pre_feedforward_layernorm",
    behind_attention="post_attention_layernorm",
    behind_feed_forward="post_feedforward_layernorm",
)
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _HEAD_WIDTH, _SCALED_BY, _WINDOW = 8, 4, 256, 256.0, 4096
_SCORES, _LOGITS = 50.0, 30.0


def gemma2_stack(
    config: Config,
    tensors: TensorFile,
    prefix: str,
    vocabulary: int,
    tokens: int,
    norms: BlockNorms,
    *,
    both_ways: bool = False,
    between: Callable[[LlamaParts], tuple[Op, ...]] | None = None,
) -> Stack:
    """Its layers, with `norms` around their blocks; of an encoder `both_ways`, where a window is so many tokens to each
    side. `between` is as in `Form`."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    kinds = layer_kinds(config, tuple((SLIDING, FULL)[layer % 2] for layer in range(layers)))
    bias = attention_bias(config)
    form = Form(
        Biases(bias, bias, feed_forward=False),
        head_width=_HEAD_WIDTH,
        heads=_HEADS,
        key_heads=_KEY_HEADS,
        activation="gelu_pytorch_tanh",
        activation_key="hidden_activation",
        norms=norms,
        gamma_of=one_more,
        factors=factors_in(config),
        score_cap=scores_cap(config),
        between=between,
    )
    if both_ways:
        window = config.positive_int("sliding_window", _WINDOW, maximum=MAX_POSITIONS)
        masks = masks_both_ways(windows_by_kind(kinds, window))
    else:
        masks = masks_by_kind(config, kinds, _WINDOW, tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


def factors_in(config: Config) -> Factors:
    """Of words and scores."""
    scaled_by = config.number("query_pre_attn_scalar", _SCALED_BY)
    if not 0 < scaled_by <= parts.MAX_WIDTH:
        message = f"query_pre_attn_scalar {scaled_by:g}: expected more than 0, to {parts.MAX_WIDTH}"
        raise parts.refuse("config-out-of-range", message)
    return Factors(math.sqrt(config.positive_int("hidden_size")), scaled_by**-0.5)


def attention_bias(config: Config) -> bool:
    """Whether linears of attention have one."""
    return config.flag("attention_bias", False)


def scores_cap(config: Config) -> float | None:
    """What bounds the scores of attention; None: nothing."""
    return cap_of(config, "attn_logit_softcapping", _SCORES)


def logits_cap(config: Config) -> float | None:
    """What bounds the logits of words; None: nothing."""
    return cap_of(config, "final_logit_softcapping", _LOGITS)
