# SPDX-License-Identifier: Apache-2.0
"""Layers of state spaces, of attention, or of both, and what stands before and behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ...ir.graph import Attention, Embed, Multiply, Op, Term
from . import parts
from .layer_kinds import Seen
from .llama_parts import LlamaParts
from .llama_stack import Stack
from .mamba_mixer import OWN
from .periods import layers_of_kinds

_OWN = OWN | {"key", "value"}  # of a layer that is written token by token


def mamba_stack(
    made: LlamaParts,
    words: tuple[str, int],
    kinds: Sequence[str],
    ops_of: Callable[[LlamaParts, str], tuple[Op, ...]],
    widths: Mapping[str, int],
    *,
    factor: float = 1.0,
    final_norm: str = "norm",
) -> Stack:
    """Of layers of these `kinds`, whose ops `ops_of` makes; `widths` are those of all their values. `words` are the
    tensor's name below the prefix and how many there are, `factor` is what they are multiplied by."""
    name, vocabulary = words
    table = parts.parameter(made.tensors, "word_embeddings", f"{made.prefix}{name}", (vocabulary, made.sizes.width))
    own = frozenset(value for value in _OWN if value in widths)
    layers, all_widths = layers_of_kinds(
        kinds, lambda kind, layers: ops_of(replace(made, layers=layers), kind), widths, own
    )
    embed = Embed((Term(table, "ids", factor=factor),), "hidden")
    return Stack((embed, *layers, made.final_norm(final_norm)), all_widths, table, made.sizes.width)


def attention(
    made: LlamaParts, seen: Seen | None, bias: bool, *, scale: float | None = None, factor: float = 1.0
) -> tuple[Op, ...]:
    """What adds to `hidden`, times `factor`, what is made of `normed`; where `seen` is None, nothing is turned."""
    heads, key_heads = made.sizes.heads, made.sizes.key_heads
    output = made.linear("attention_output", "self_attn.o_proj", bias, "context", "hidden", add="hidden")
    return (
        *made.projections(bias),
        *(() if seen is None else (seen.turned("query", heads), seen.turned("key", key_heads))),
        Attention("query", "key", "value", "context", heads, key_heads, scale, mask="causal"),
        *made.added(output, None, factor),
    )


def feed_forward(made: LlamaParts, bias: bool, activation: str) -> tuple[Op, ...]:
    """What adds to `hidden` what is made of `normed`."""
    source = "feed_forward"
    return (
        made.linear("gate", f"{source}.gate_proj", bias, "normed", "gate", activation),
        made.linear("up", f"{source}.up_proj", bias, "normed", "inner"),
        Multiply("gate", "inner", "inner"),
        made.linear("output", f"{source}.down_proj", bias, "inner", "hidden", add="hidden"),
    )
