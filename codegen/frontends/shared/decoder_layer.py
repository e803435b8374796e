# SPDX-License-Identifier: Apache-2.0
"""The layer of a decoder that reads an encoder's rows: attention to the steps so far, to the text, and feed-forward,
each with a residual and a norm. Families name its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.graph import Attention, Linear, Mask, Op
from ...load.safetensors import TensorFile
from . import parts
from .encoder_layer import LayerShape


@dataclass(frozen=True)
class DecoderNames:
    """What a family calls the parts of a layer, behind the layer's own prefix."""

    self_query: str
    self_key: str
    self_value: str
    self_output: str
    self_norm: str
    cross_query: str
    cross_key: str
    cross_value: str
    cross_output: str
    cross_norm: str
    target_intermediate: str
    target_output: str
    target_norm: str


def decoder_widths(shape: LayerShape) -> dict[str, int]:
    """Of the values that a layer reads and writes, but for the encoder's rows."""
    attention = (f"{of}_{what}" for of in ("self", "cross") for what in ("query", "key", "value", "context"))
    return dict.fromkeys(("target", *attention), shape.hidden) | {"target_inner": shape.intermediate}


def decoder_layer(
    tensors: TensorFile, prefixes: Sequence[str], names: DecoderNames, shape: LayerShape, memory: str, pre_norm: bool
) -> tuple[Op, ...]:
    """target = norm(target + block(target)) three times, or with `pre_norm` target + block(norm(target)); `memory` are
    the encoder's rows, as wide as the target."""
    rows = "target_normed" if pre_norm else "target"
    widths = decoder_widths(shape) | dict.fromkeys((rows, memory), shape.hidden)

    def sources(name: str) -> list[str]:
        return [f"{prefix}{getattr(names, name)}" for prefix in prefixes]

    def linear(
        name: str,
        value: str,
        out: str,
        activation: str = "none",
        residual: str | None = None,
        bias: bool = shape.bias and shape.attention_bias,
    ) -> Linear:
        size = (widths[out], widths[value])
        return parts.linear(tensors, name, sources(name), size, value, out, activation, residual=residual, bias=bias)

    def with_norm(name: str, *block: Op) -> tuple[Op, ...]:
        norm = parts.layer_norm(
            tensors, name, sources(name), shape.hidden, shape.epsilon, "target", rows, bias=shape.bias
        )
        return (norm, *block) if pre_norm else (*block, norm)

    def attention(of: str, source: str, mask: Mask) -> tuple[Op, ...]:
        query, key, value, context = (f"{of}_{what}" for what in ("query", "key", "value", "context"))
        return with_norm(
            f"{of}_norm",
            linear(query, rows, query),
            linear(key, source, key),
            linear(value, source, value),
            Attention(query, key, value, context, shape.heads, mask=mask),
            linear(f"{of}_output", context, "target", residual="target"),
        )

    return (
        *attention("self", rows, "causal"),
        *attention("cross", memory, "none"),
        *with_norm(
            "target_norm",
            linear("target_intermediate", rows, "target_inner", shape.activation, bias=shape.bias),
            linear("target_output", "target_inner", "target", residual="target", bias=shape.bias),
        ),
    )
