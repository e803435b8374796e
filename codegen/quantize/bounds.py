# SPDX-License-Identifier: Apache-2.0
"""Refuses weights that could drive an activation past 2^50, where float32 sums of squares would overflow.

Interval analysis over the graph: for every value an upper bound of |x| that holds for any text. A LayerNorm resets the
bound, because |(x - mean) / deviation| <= sqrt(width); an attention output is a weighted mean of values; every
activation function here satisfies |f(x)| <= max(|x|, 1); a sum of n rows / sqrt(n) is at most sqrt(n) times a row.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import EtchError
from ..graph import Array, Attention, EmbeddingSum, Graph, LayerNorm, Layers, Linear, Op, Parameter, Pool

LIMIT = 2.0**50


def check_bounds(graph: Graph) -> None:
    """Raises EtchError where the bound of some value exceeds 2^50."""
    bounds: dict[str, float] = {}
    for node in graph.body:
        if isinstance(node, Layers):
            for layer in range(node.count):
                for inner in node.body:
                    _visit(inner, layer, graph, bounds)
        else:
            _visit(node, 0, graph, bounds)


def _visit(node: Op, layer: int, graph: Graph, bounds: dict[str, float]) -> None:
    if isinstance(node, EmbeddingSum):
        tables = (node.word, node.segment, node.position)
        _set(bounds, node.out, sum(_largest(table, 0) for table in tables), node.word.arrays[0])
    elif isinstance(node, LayerNorm):
        gamma = node.gamma.arrays[layer]
        width = gamma.shape[0]
        # A quotient that rounding may push past sqrt(width) by a little stays far below the slack in LIMIT.
        bound = math.sqrt(width) * _largest(node.gamma, layer) + _largest(node.beta, layer)
        _set(bounds, node.value, bound, gamma)
    elif isinstance(node, Linear):
        weight = node.weight.arrays[layer]
        bound = bounds[node.input] * _largest_row_sum(weight)
        if node.bias is not None:
            bound += _largest(node.bias, layer)
        bound = max(bound, 1.0)
        if node.residual is not None:
            bound += bounds[node.residual]
        _set(bounds, node.out, bound, weight)
    elif isinstance(node, Attention):
        bounds[node.out] = bounds[node.value]
    elif isinstance(node, Pool):
        growth = math.sqrt(graph.max_tokens) if node.kind == "mean_sqrt" else 1.0
        _set(bounds, node.out, growth * bounds[node.input], None)
    else:
        bounds[node.value] = 1.0


def _set(bounds: dict[str, float], value: str, bound: float, tensor: Array | None) -> None:
    if bound > LIMIT:
        raise EtchError(
            "activation-bound",
            "quantize",
            f"'{value}' could reach {bound:.3g} in magnitude, the limit is 2^50",
            file=None if tensor is None else tensor.file,
            tensor=None if tensor is None else tensor.name,
        )
    bounds[value] = bound


def _largest(parameter: Parameter, layer: int) -> float:
    return float(np.abs(parameter.arrays[layer].values).max())


def _largest_row_sum(weight: Array) -> float:
    # A bound, not a bit: any summation order will do.
    return max(float(np.abs(row).sum(dtype=np.float64)) for row in weight.values)
