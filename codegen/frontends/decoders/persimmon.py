# SPDX-License-Identifier: Apache-2.0
"""Persimmon: layer norms, also of each head's queries and keys, a part of each head turned, and squares behind the
activation. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Attention, Embed, Layers, Multiply, Norm, Op, Rotary, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.layer_parts import ATTENTION, LayerParts, sizes_in
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Stack
from ..shared.rotary import check_head_dim, partial_angles, rotary_tables, said_in

MODEL_TYPE = "persimmon"
HARMLESS_KEYS = frozenset({"attention_dropout", "hidden_dropout"})  # training's
_THETA, _PART, _EPSILON = 10_000.0, 0.5, 1e-5  # where the configuration does not say them
_ACTIVATION, _SQUARED = "hidden_act", "relu2"


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    width, heads, inner, count = sizes_in(config, tensors)
    epsilon = parts.epsilon_of(config, "layer_norm_eps", _EPSILON)
    check_head_dim(config, width // heads)
    widths = dict.fromkeys(("hidden", "normed", "context", *ATTENTION), width) | {"inner": inner}
    prefixes = [f"{prefix}layers.{i}." for i in range(count)]
    made = LayerParts(tensors, prefixes, widths, epsilon)
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, width))
    usual = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    angles, turned = partial_angles(*said_in(config), usual, positions, width // heads)
    cosines, sines = rotary_tables("rotary", angles, tokens, turned)
    activation = config.text(_ACTIVATION, _SQUARED)
    squared = activation == _SQUARED

    def head_norm(of: str) -> Norm:
        sources = [f"{each}self_attn.{of[0]}_layernorm" for each in prefixes]
        return replace(parts.layer_norm(tensors, f"{of}_norm", sources, width // heads, epsilon, of), heads=heads)

    of_heads = ("query", "key")
    layer: tuple[Op, ...] = (
        made.norm("attention_norm", "input_layernorm"),
        *made.projections("self_attn.query_key_value", heads),
        *(map(head_norm, of_heads) if config.flag("qk_layernorm", True) else ()),
        *(Rotary((cosines,), (sines,), heads, of) for of in of_heads),
        Attention(*ATTENTION, "context", heads, mask="causal"),
        made.linear("attention_output", "self_attn.dense", "context", "hidden", residual="hidden"),
        made.norm("feed_forward_norm", "post_attention_layernorm"),
        made.linear(
            *("intermediate", "mlp.dense_h_to_4h", "normed", "inner"),
            parts.activation_named("relu" if squared else activation, _ACTIVATION),
        ),
        *((Multiply("inner", "inner", "inner"),) if squared else ()),
        made.linear("output", "mlp.dense_4h_to_h", "inner", "hidden", residual="hidden"),
    )
    body = (
        Embed((Term(words, "ids"),), "hidden"),
        Layers("layer", count, layer),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}final_layernorm"], width, epsilon, "hidden"),
    )
    return Stack(body, widths, words, width)


FAMILY = Family("Persimmon", "TokenizersBackend", _stack, tags="score")
