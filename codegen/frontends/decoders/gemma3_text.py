# SPDX-License-Identifier: Apache-2.0
"""Gemma 3's texts, and EmbeddingGemma, which sees them in both directions. Names as in `transformers`.

Llama's names with norms before each block and behind it, norms of each head's queries and keys, and layers of two
kinds. Norms multiply by 1 + weight."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.checked_keys import IS_CAUSAL
from ..shared.computed import one_more
from ..shared.gemma2_stack import NORMS, factors_in
from ..shared.layer_kinds import (
    FULL,
    SLIDING,
    Seen,
    angles_by_kind,
    every_so_manyth,
    layer_kinds,
    older_scaling,
    seen_by_kind,
    tables_by_kind,
    windows_by_kind,
)
from ..shared.llama_stack import (
    HEAD_NORMS,
    MAX_POSITIONS,
    POSITIONS,
    Biases,
    Form,
    Stack,
    llama_stack,
    masks_by_kind,
)
from ..shared.masks import Masks, masks_both_ways

MODEL_TYPE = "gemma3_text"
# Training's, the library's own cache's, and what layer_types says better.
HARMLESS_KEYS = frozenset({"_sliding_window_pattern", "attention_dropout", "cache_implementation"})
BOTH_WAYS = "use_bidirectional_attention"
_CAPS = ("attn_logit_softcapping", "final_logit_softcapping")
_THETA_KEYS = {FULL: ("rope_theta", 1_000_000.0), SLIDING: ("rope_local_base_freq", 10_000.0)}
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _HEAD_WIDTH, _WINDOW, _PATTERN = 8, 4, 256, 4096, 6


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    for key in _CAPS:
        if config.values.get(key) is not None:
            raise parts.refuse("config-not-supported", f"{key}: scores that a tanh bounds")
    every = config.positive_int("sliding_window_pattern", _PATTERN, maximum=parts.MAX_LAYERS)
    kinds = layer_kinds(config, every_so_manyth(config, every))
    angles = angles_by_kind(
        config, _THETA_KEYS, config.positive_int(POSITIONS, maximum=MAX_POSITIONS), older_scaling(config)
    )
    masks = _masks(config, kinds, tokens)
    bias = config.flag("attention_bias", False)
    form = Form(
        Biases(bias, bias, feed_forward=False),
        head_norms=HEAD_NORMS,
        head_width=_HEAD_WIDTH,
        heads=_HEADS,
        key_heads=_KEY_HEADS,
        activation="gelu_pytorch_tanh",
        activation_key="hidden_activation",
        norms=NORMS,
        gamma_of=one_more,
        factors=factors_in(config),
    )

    def seen_by(width: int) -> Seen:
        return seen_by_kind(kinds, tables_by_kind(angles, kinds, tokens, width), masks)

    return llama_stack(config, tensors, prefix, vocabulary, seen_by, form)


def _masks(config: Config, kinds: tuple[str, ...], tokens: int) -> Masks:
    both_ways = config.values.get(BOTH_WAYS) is not None and config.flag(BOTH_WAYS)
    if both_ways and FAMILY.read_limits(config).writes_texts:
        raise parts.refuse("config-not-supported", f"{BOTH_WAYS}: what is written next is not there to be seen")
    if both_ways and SLIDING in kinds and not config.values.get(IS_CAUSAL, True):
        raise parts.refuse("config-not-supported", f"{BOTH_WAYS} and {IS_CAUSAL}: two windows, one by each of them")
    if both_ways:
        window = config.positive_int("sliding_window", _WINDOW, maximum=MAX_POSITIONS)
        return masks_both_ways(windows_by_kind(kinds, window // 2))
    return masks_by_kind(config, kinds, _WINDOW, tokens)


FAMILY = Family("Gemma3Text", "GemmaTokenizer", _stack, writer="Gemma3ForCausalLM", tied=True, padding=0)
