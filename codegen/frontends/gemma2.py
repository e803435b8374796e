# SPDX-License-Identifier: Apache-2.0
"""Gemma 2: Gemma 3's layers without norms of heads, every other one with a window of the past, all turned by the same
angles; a tanh bounds scores and logits. Names as in `transformers`, whose eager attention has the bound of scores."""

from __future__ import annotations

from ..load.config import Config
from ..load.safetensors import TensorFile
from .bases.decoder_family import Family
from .gemma3_text import NORMS, factors_in
from .shared import parts
from .shared.computed import one_more
from .shared.layer_kinds import FULL, SLIDING, layer_kinds
from .shared.llama_stack import Biases, BlockNorms, Form, Stack, cap_of, causal_stack, masks_by_kind

MODEL_TYPE = "gemma2"
# Training's, the library's own cache's, and what `hidden_activation` says in its place.
HARMLESS_KEYS = frozenset({"attention_dropout", "cache_implementation", "hidden_act"})
_BOTH_WAYS = "use_bidirectional_attention"
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _HEAD_WIDTH, _WINDOW = 8, 4, 256, 4096
_SCORES, _LOGITS = 50.0, 30.0


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    if config.values.get(_BOTH_WAYS):
        raise parts.refuse("config-not-supported", f"{_BOTH_WAYS}: rows that see those behind them")
    return gemma2_stack(config, tensors, prefix, vocabulary, tokens, NORMS)


def gemma2_stack(
    config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int, norms: BlockNorms
) -> Stack:
    """Its layers, with `norms` around their blocks."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    kinds = layer_kinds(config, tuple((SLIDING, FULL)[layer % 2] for layer in range(layers)))
    bias = config.flag("attention_bias", False)
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
        score_cap=cap_of(config, "attn_logit_softcapping", _SCORES),
    )
    masks = masks_by_kind(config, kinds, _WINDOW, tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


def logits_cap(config: Config) -> float | None:
    """What bounds the logits of words; None: nothing."""
    return cap_of(config, "final_logit_softcapping", _LOGITS)


FAMILY = Family("Gemma2", "GemmaTokenizer", _stack, logits_cap=logits_cap, tied=True)
