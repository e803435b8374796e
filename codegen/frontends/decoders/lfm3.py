# SPDX-License-Identifier: Apache-2.0
"""LFM3: LFM2 with norms behind the blocks, a gate of each head of attention, windows of the past, and angles of which
a part of a head's pairs is not turned. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Attention, Linear, Multiply, Op, Parameter
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.computed import repeated_rows
from ..shared.layer_kinds import FULL, SLIDING, Seen, angles_by_kind, layer_kinds, seen_by_kind, tables_by_kind
from ..shared.llama_parts import LlamaParts, read_sizes
from ..shared.llama_stack import HEAD_NORMS, MAX_POSITIONS, POSITIONS, Stack, masks_by_kind
from ..shared.rotary import PROPORTIONAL, Angles, proportional_angles
from .lfm2 import CONVOLUTION, lfm_stack, with_attention

MODEL_TYPE = "lfm3"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_PART = "partial_rotary_factor"
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _HEAD_WIDTH, _TAPS, _WINDOW, _EPSILON, _THETA = 16, 4, 128, 7, 256, 1e-5, 1e6
_ANGLES = {
    SLIDING: {"rope_type": "default", "rope_theta": 10_000.0},
    FULL: {"rope_type": PROPORTIONAL, "rope_theta": 1e6, _PART: 0.5},
}


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    sizes = read_sizes(config, tensors, _HEAD_WIDTH, _HEADS, _KEY_HEADS)
    made = LlamaParts(
        tensors,
        prefix,
        sizes,
        parts.epsilon_of(config, parts.either_name(config, "norm_eps", "rms_norm_eps"), _EPSILON),
    )
    kinds = with_attention(_kinds(config))
    seen = _seen(config, kinds, tokens, sizes.head_width)
    norms = ("post_operator_norm", "post_ffn_norm") if config.flag("use_sandwich_norm", True) else (None, None)
    gated, bias = config.flag("use_attention_gate", True), config.flag("attention_bias", False)

    def attention(of_kind: LlamaParts, kind: str) -> tuple[Op, ...]:
        return _attention(of_kind, seen[kind], gated, bias, norms[0])

    gates = {"head_gate": sizes.widths["context"]}
    return lfm_stack(config, made, vocabulary, kinds, gates, attention, taps=_TAPS, norms=norms)


def _kinds(config: Config) -> tuple[str, ...]:
    """Of each layer."""
    layers = range(config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS))
    usual = (CONVOLUTION, *((SLIDING, CONVOLUTION, FULL, CONVOLUTION)[i % 4] for i in layers[1:]))
    return layer_kinds(config, usual, (FULL, SLIDING, CONVOLUTION))


def _seen(config: Config, kinds: tuple[str, ...], tokens: int, width: int) -> dict[str, Seen]:
    """By kinds of attention that there are."""
    for key in ("rope_scaling", _PART):
        if config.values.get(key) is not None:
            raise parts.refuse("rotary-not-supported", f"{key} counts inside of rope_parameters only: put it there")
    if config.values.get("rope_parameters") is None:
        config = replace(config, values=config.values.changed("rope_parameters", _ANGLES))

    def read(values: object, key: str, theta: float, positions: int) -> Angles:
        return proportional_angles(values, key, theta, positions, width)

    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    thetas = dict.fromkeys((FULL, SLIDING), ("rope_theta", _THETA))
    angles = angles_by_kind(config, thetas, positions, read=read)
    there = [kind for kind in (FULL, SLIDING) if kind in kinds]
    tables = tables_by_kind(angles, there, tokens, width)
    return {kind: seen_by_kind([kind], tables, masks_by_kind(config, [kind], _WINDOW, tokens)) for kind in there}


def _attention(made: LlamaParts, seen: Seen, gated: bool, bias: bool, norm: str | None) -> tuple[Op, ...]:
    heads, key_heads = made.sizes.heads, made.sizes.key_heads
    output = made.linear("attention_output", "self_attn.o_proj", bias, "context", "hidden", add="hidden")
    return (
        made.norm("operator_norm", "operator_norm"),
        *made.projections(bias),
        *made.head_norms(HEAD_NORMS),
        *(seen.turned("query", heads), seen.turned("key", key_heads)),
        Attention(
            *("query", "key", "value", "context", heads, key_heads), mask=seen.masks.mask, window=seen.masks.window
        ),
        *(_gate(made) if gated else ()),
        *made.added(output, norm),
    )


def _gate(made: LlamaParts) -> tuple[Op, ...]:
    """A value of each head, for all that the head has."""
    shape = (made.sizes.heads, made.sizes.width)
    rows = [
        made.tensors.take(f"{of}.gate_proj.weight", shape, legacy=f"{of}.g_proj.weight")
        for of in made.sources("self_attn")
    ]
    weight = Parameter("head_gate_weight", tuple(repeated_rows(array, made.sizes.head_width) for array in rows))
    return (
        Linear("head_gate", weight, None, "normed", "head_gate", "sigmoid"),
        Multiply("context", "head_gate", "context"),
    )


FAMILY = Family("Lfm3", "TokenizersBackend", _stack, tied=True, padding=124_893)
