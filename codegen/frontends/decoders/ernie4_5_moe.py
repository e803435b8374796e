# SPDX-License-Identifier: Apache-2.0
"""ERNIE 4.5 with experts, as ERNIE-4.5-21B-A3B: the dense one's attention, and experts that a softmax and a stored bias
choose, beside a block that all rows go through. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.experts import ExpertShares
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import experts, parts
from ..shared.experts import Beside, Mixture
from ..shared.llama_stack import Stack, causal_stack
from . import ernie4_5

MODEL_TYPE = "ernie4_5_moe"
HARMLESS_KEYS = experts.HARMLESS_KEYS | ernie4_5.HARMLESS_KEYS | {"moe_capacity"}
# Where the configuration does not say them.
_EXPERTS, _INNER, _SHARED, _DENSE_INNER, _KEY_HEADS, _LEAST = (64, 6), 1536, 2, 12_288, 4, 1e-12
# One key by two names.
_COUNTS = ("moe_num_experts", "num_experts")
_TOPS = ("moe_k", "num_experts_per_tok")
_BIAS = ("mlp.moe_statics.e_score_correction_bias", "mlp.gate.moe_statics.e_score_correction_bias")
_GATE, _UP, _DOWN = (f"mlp.shared_experts.{of}_proj" for of in ("gate", "up", "down"))


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS, _TOPS)
    inner = config.positive_int("moe_intermediate_size", _INNER, maximum=parts.MAX_WIDTH)
    form = ernie4_5.form_in(config)
    blocks = config.natural_int("moe_num_shared_experts", _SHARED, maximum=parts.MAX_WIDTH // inner)
    beside = Beside(blocks * inner, (_GATE, _UP), _DOWN, form.biases.feed_forward) if blocks else None
    mixture = Mixture(
        *(count, top, inner, "all"),
        beside=beside,
        dense=_dense(config),
        chosen_by=_BIAS,
        bias_axes=2,
        shares=ExpertShares(least=_least(config)),
    )
    form = replace(form, key_heads=_KEY_HEADS, head_width=None, inner=_DENSE_INNER, mixture=mixture)
    tensors.ignore(f"{prefix}mtp*")  # what guesses tokens beyond the next one
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


def _dense(config: Config) -> frozenset[int]:
    """Layers without experts."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    every = config.positive_int("moe_layer_interval", 1, maximum=parts.MAX_LAYERS)
    first, last = config.natural_int("moe_layer_start_index", 1), layers - 1
    if config.values.get("moe_layer_end_index", -1) != -1:
        last = config.natural_int("moe_layer_end_index")
    mixed = {layer for layer in range(layers) if (layer + 1) % every == 0 and first <= layer <= last}
    if not mixed:
        raise parts.refuse("config-not-supported", "moe_layer_start_index, moe_layer_interval: no layer has experts")
    return frozenset(range(layers)) - mixed


def _least(config: Config) -> float:
    least = config.number("moe_norm_min", _LEAST)
    if not parts.MIN_EPSILON <= least <= 1:
        message = f"moe_norm_min {least:g}: expected {parts.MIN_EPSILON:g} to 1"
        raise parts.refuse("config-out-of-range", message)
    return least


FAMILY = Family(
    "Ernie4_5_Moe",
    "TokenizersBackend",
    _stack,
    tied=True,
    padding=0,
    names=Names(logits_bias="lm_head.bias"),
    bias_key="use_bias",
    bias_usual=False,
)
