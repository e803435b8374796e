# SPDX-License-Identifier: Apache-2.0
"""Gemma 3's texts, and EmbeddingGemma, which sees them in both directions. Names as in `transformers`.

Llama's names with norms before each block and behind it, norms of each head's queries and keys, and layers of two
kinds. Norms multiply by 1 + weight."""

from __future__ import annotations

import math

from ..ir.graph import Add, Attention, Embed, Layers, Multiply, Op, Term
from ..load.config import Config
from ..load.safetensors import TensorFile
from .shared import parts
from .shared.computed import one_more
from .shared.decoder_family import Family
from .shared.layer_kinds import FULL, SLIDING, angles_by_kind, layer_kinds, seen_by_kind, tables_by_kind
from .shared.llama_parts import LlamaParts, read_sizes
from .shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Stack, check_past

MODEL_TYPE = "gemma3_text"
# Training's, the library's own cache's, and what layer_types says better.
HARMLESS_KEYS = frozenset({"_sliding_window_pattern", "attention_dropout", "cache_implementation"})
_BOTH_WAYS = "use_bidirectional_attention"
_CAPS = ("attn_logit_softcapping", "final_logit_softcapping")
_THETA_KEYS = {FULL: ("rope_theta", 1_000_000.0), SLIDING: ("rope_local_base_freq", 10_000.0)}
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _HEAD_WIDTH, _SCALED_BY, _WINDOW, _PATTERN = 8, 4, 256, 256.0, 4096, 6


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    for key in _CAPS:
        if config.values.get(key) is not None:
            raise parts.refuse("config-not-supported", f"{key}: scores that a tanh bounds")
    sizes = read_sizes(config, tensors, _HEAD_WIDTH, _HEADS, _KEY_HEADS)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    kinds = _kinds(config, sizes.layers)
    angles = angles_by_kind(config, _THETA_KEYS, positions, _scaling(config))
    seen = seen_by_kind(kinds, tables_by_kind(angles, kinds, tokens, sizes.head_width), _window(config, kinds, tokens))
    epsilon = parts.epsilon_of(config, "rms_norm_eps", 1e-6)
    made = LlamaParts(tensors, prefix, sizes, epsilon, one_more)
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, sizes.width))
    activation = parts.activation_of(config, "hidden_activation", "gelu_pytorch_tanh")
    bias = config.flag("attention_bias", False)
    scaled_by = config.number("query_pre_attn_scalar", _SCALED_BY)
    if not 0 < scaled_by <= parts.MAX_WIDTH:
        message = f"query_pre_attn_scalar {scaled_by:g}: expected more than 0, to {parts.MAX_WIDTH}"
        raise parts.refuse("config-out-of-range", message)
    heads = (sizes.heads, sizes.key_heads)
    layer: tuple[Op, ...] = (
        made.norm("attention_norm", "input_layernorm"),
        *made.projections(bias),
        *made.head_norms(),
        *(seen.turned(value, count) for value, count in zip(("query", "key"), heads, strict=True)),
        Attention(*("query", "key", "value", "context"), *heads, scaled_by**-0.5, mask=seen.mask, window=seen.window),
        made.linear("attention_output", "self_attn.o_proj", bias, "context", "normed"),
        made.norm("attention_output_norm", "post_attention_layernorm", "normed"),
        Add("hidden", "normed", "hidden"),
        made.norm("feed_forward_norm", "pre_feedforward_layernorm"),
        *made.gate_and_up(False, activation),
        Multiply("gate", "inner", "inner"),
        made.linear("output", "mlp.down_proj", False, "inner", "normed"),
        made.norm("output_norm", "post_feedforward_layernorm", "normed"),
        Add("hidden", "normed", "hidden"),
    )
    embed = Embed((Term(words, "ids", factor=math.sqrt(sizes.width)),), "hidden")
    return Stack((embed, Layers("layer", sizes.layers, layer), made.final_norm()), sizes.widths, words, sizes.width)


def _kinds(config: Config, layers: int) -> tuple[str, ...]:
    every = config.positive_int("sliding_window_pattern", _PATTERN, maximum=parts.MAX_LAYERS)
    return layer_kinds(config, tuple(SLIDING if (layer + 1) % every else FULL for layer in range(layers)))


def _scaling(config: Config) -> dict[str, object] | None:
    scaling = config.values.get("rope_scaling")
    if scaling is not None and not isinstance(scaling, dict):
        raise parts.refuse("rotary-not-supported", "rope_scaling: expected an object")
    return scaling


def _window(config: Config, kinds: tuple[str, ...], tokens: int) -> int | None:
    """Tokens to each side that a sliding layer sees; None where every layer sees those so far, which is what a window
    of the past comes to as long as it holds all tokens."""
    both_ways = config.values.get(_BOTH_WAYS) is not None and config.flag(_BOTH_WAYS)
    if both_ways and read_limits(config).writes_texts:
        raise parts.refuse("config-not-supported", f"{_BOTH_WAYS}: what is written next is not there to be seen")
    window = config.positive_int("sliding_window", _WINDOW, maximum=MAX_POSITIONS)
    if both_ways:
        return window // 2
    if SLIDING in kinds:
        check_past(window, tokens)
    return None


_FAMILY = Family("Gemma3Text", "GemmaTokenizer", _stack, writer="Gemma3ForCausalLM", tied=True)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
