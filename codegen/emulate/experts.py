# SPDX-License-Identifier: Apache-2.0
"""Rows that go through a few of several blocks: which ones, in which order, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..ir.experts import ExpertShares, ExpertWeighing
from ..ir.weights import ExpertBias, F32Matrix, Integers, LinearWeights, S4Matrix
from .floats import F32Array, QuantizedRows
from .linear import linear
from .polynomials import sigmoid
from .pooling import softmax


@dataclass(frozen=True)
class Routes:
    """The chosen rows, one expert's behind the other's."""

    first: NDArray[np.int64]  # [experts + 1]: where those of each begin
    rows: NDArray[np.int64]  # [chosen]: the row that each is made of
    places: NDArray[np.int64]  # [rows, top]: of each row the chosen ones, experts ascending
    weights: F32Array  # [rows, top]: what these count


def choose(
    scores: F32Array,
    top: int,
    weighing: ExpertWeighing,
    bias: ExpertBias | None = None,
    shares: ExpertShares | None = None,
) -> Routes:
    """Of each row the `top` largest scores [rows, experts], of equal ones the lower expert first; with a bias the
    largest of it and what weighs them."""
    count, experts = scores.shape
    of_all = softmax(scores) if weighing == "all" else scores
    order_by = scores if bias is None else (sigmoid(scores) if weighing == "each" else of_all) + bias.values
    chosen = np.sort(np.argsort(-order_by, axis=-1, kind="stable")[:, :top], axis=-1)
    taken = np.take_along_axis(of_all, chosen, axis=-1)
    order = np.argsort(chosen.reshape(-1), kind="stable")
    places = np.empty(count * top, np.int64)
    places[order] = np.arange(count * top)
    first = np.searchsorted(chosen.reshape(-1)[order], np.arange(experts + 1))
    weights = {"all": lambda x: x, "chosen": softmax, "each": sigmoid}[weighing](taken)
    if shares is not None:
        weights = weights * (np.float32(1) / _divisors(weights, shares))[:, None]
    return Routes(first, order // top, places.reshape(count, top), weights)


def _divisors(weights: F32Array, shares: ExpertShares) -> F32Array:
    """Of each row."""
    sums: F32Array = np.zeros(len(weights), np.float32)
    for place in range(weights.shape[1]):
        sums = sums + weights[:, place]
    sums, least = sums + np.float32(shares.added), np.float32(shares.least)
    return np.where(sums > least, sums, least)


def expert_linear(
    x: F32Array | QuantizedRows, routes: Routes, weights: LinearWeights, outputs: int, activation: str
) -> F32Array:
    """Chosen rows of x, each by the weights of its expert."""
    made = np.zeros((len(routes.rows), outputs), np.float32)
    for rows, of_expert in _by_expert(routes, weights, outputs):
        made[rows] = linear(x[rows], of_expert, activation, None)
    return made


def mix(x: F32Array, routes: Routes) -> F32Array:
    """Of each row the sum in order over its experts of weight * row."""
    mixed = np.zeros((len(routes.places), x.shape[1]), np.float32)
    for place in range(routes.places.shape[1]):
        mixed = mixed + routes.weights[:, place, None] * x[routes.places[:, place]]
    return mixed


def _by_expert(routes: Routes, weights: LinearWeights, outputs: int) -> Iterator[tuple[slice, LinearWeights]]:
    """The chosen rows of those that have any, with their weights."""
    for expert, (begin, end) in enumerate(zip(routes.first[:-1], routes.first[1:], strict=True)):
        if begin < end:
            yield slice(begin, end), _outputs_of(weights, slice(expert * outputs, (expert + 1) * outputs))


def _outputs_of(weights: LinearWeights, part: slice) -> LinearWeights:
    matrix = weights.matrix
    of_expert: Integers | F32Matrix
    if isinstance(matrix, F32Matrix):
        of_expert = F32Matrix(matrix.values[part])
    elif isinstance(matrix, S4Matrix):
        of_expert = S4Matrix(matrix.q[part], matrix.factors[part], matrix.scales[part])
    else:
        of_expert = type(matrix)(matrix.q[part], matrix.scales[part])
    bias = None if weights.bias is None else weights.bias[part]
    return replace(weights, matrix=of_expert, bias=bias)
