# SPDX-License-Identifier: Apache-2.0
"""Relative keys and queries: an embedding of distances as the projections of a layer see it, computed at generation.

Sums run in the order of their terms, by element-wise operations in float64, so that the bytes are the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from ...ir.graph import Norm, Parameter
from ...ir.parameter import Array
from .computed import Computed
from .ordered_linear import F64Array, ordered_linear


def log_bucket(distance: int, buckets: int, farthest: int) -> int:
    """make_log_bucket_position of `transformers`: distances up to half of the buckets as they are, farther ones by the
    logarithm up to `farthest`, which PyTorch takes in float32."""
    half = buckets // 2
    far = abs(distance)
    if far <= half:
        return distance
    log = np.float32(math.log(np.float32(far) / np.float32(half)))
    place = log / np.float32(math.log(np.float32((farthest - 1) / half))) * np.float32(half - 1)
    return int(math.copysign(math.ceil(place) + half, distance))


def embedding_rows(embedding: Array, rows: Sequence[int], norm: Norm | None) -> Callable[[], F64Array]:
    """These rows of an embedding of distances, through the norm where there is one; computed when first asked for."""

    @cache
    def values() -> F64Array:
        x = embedding.values[list(rows)].astype(np.float64)
        if norm is None:
            return x
        assert norm.epsilon is not None
        count = float(x.shape[1])
        centred = x - (_sum_of_columns(x) / count)[:, None]
        deviation = np.sqrt(_sum_of_columns(centred * centred) / count + norm.epsilon)
        normed = centred / deviation[:, None] * norm.gamma.at(0).values.astype(np.float64)
        return normed if norm.beta is None else normed + norm.beta.at(0).values.astype(np.float64)

    return values


def projected(
    name: str, rows: Callable[[], F64Array], count: int, weight: Parameter, bias: Parameter | None
) -> Parameter:
    """[count, outputs] of each layer: its linear of the rows."""

    def of_layer(index: int) -> Computed:
        array = weight.arrays[index]
        return Computed(
            f"{name} of {array.name}",
            (count, array.shape[0]),
            lambda: ordered_linear(rows(), array.values, None if bias is None else bias.arrays[index].values),
            array.file,
        )

    return Parameter(name, tuple(map(of_layer, range(len(weight.arrays)))), weight.of_layer)


def _sum_of_columns(x: F64Array) -> F64Array:
    total = np.zeros(len(x))
    for column in x.T:
        total = total + column
    return total
