# SPDX-License-Identifier: Apache-2.0
"""The ops of a classifier by a GRU, from an encoder's rows to the logits. Names as PyTorch's nn.GRU has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.graph import Gru, Head, Linear, Node, Parameter, Pool, Recurrence
from ...ir.parameter import Array
from ...load.gru_head import GruHead
from ...tasks.classification import Classification
from . import parts
from .computed import Computed

STATE, OUT = "state", "logits"


def gru_head(head: GruHead, value: str, width: int) -> tuple[tuple[Node, ...], dict[str, int], Head]:
    """The ops from `value` to the logits, the widths of what they write, and the result."""
    body: list[Node] = []
    widths: dict[str, int] = {}
    inputs, outputs = width, head.directions * head.width
    for layer in range(head.layers):
        products, states = f"gru_{layer}_products", f"gru_{layer}_states"
        body += _layer(head, layer, inputs, value, products, states)
        widths |= {products: 3 * outputs, states: outputs}
        value, inputs = states, outputs
    body.append(Pool("ends" if head.directions == 2 else "last", value, STATE))
    shape = len(head.labels), outputs
    bias = "linear.bias" in head.tensors
    body.append(parts.linear(head.tensors, "classifier", ["linear"], shape, STATE, OUT, exact=True, bias=bias))
    head.tensors.finish()
    widths |= {STATE: outputs, OUT: len(head.labels)}
    return tuple(body), widths, Head(Classification(head.labels, head.activation), OUT)


def _layer(head: GruHead, layer: int, inputs: int, value: str, products: str, states: str) -> tuple[Node, Node]:
    """The input products of all directions as one linear, and what goes from row to row."""
    name = f"gru_{layer}"
    endings = [f"l{layer}", f"l{layer}_reverse"][: head.directions]
    gates = 3 * head.width

    def take(what: str, *shape: int) -> list[Array]:
        return [head.tensors.take(f"gru.{what}_{ending}", shape) for ending in endings]

    input_weights = take("weight_ih", gates, inputs)
    biases = take("bias_ih", gates) if head.bias else []
    linear = Linear(
        f"{name}_input",
        Parameter(f"{name}_input_weight", (_stacked(input_weights),)),
        Parameter(f"{name}_input_bias", (_stacked(biases),)) if biases else None,
        value,
        products,
    )
    weights = take("weight_hh", gates, head.width)
    recurrent: list[Array | None] = [*take("bias_hh", gates)] if head.bias else [None] * len(weights)
    directions = tuple(
        Recurrence(
            f"{name}_{way}",
            Parameter(f"{name}_{way}_weight", (weight,)),
            None if bias is None else Parameter(f"{name}_{way}_bias", (bias,)),
        )
        for way, weight, bias in zip(("forward", "backward"), weights, recurrent, strict=False)
    )
    return linear, Gru(directions, products, states)


def _stacked(arrays: Sequence[Array]) -> Array:
    """Those of all directions as one, below each other."""
    first = arrays[0]
    if len(arrays) == 1:
        return first
    rows = sum(array.shape[0] for array in arrays)
    names = "+".join(array.name for array in arrays)
    return Computed(names, (rows, *first.shape[1:]), lambda: np.concatenate([a.values for a in arrays]), first.file)
