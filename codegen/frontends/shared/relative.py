# SPDX-License-Identifier: Apache-2.0
"""Relative keys and queries: an embedding of distances as the projections of a layer see it, computed at generation.

Sums run in the order of their terms, by element-wise operations in float64, so that the bytes are the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...ir.graph import Norm, Parameter
from ...ir.parameter import Array
from .computed import Computed

F64Array = NDArray[np.float64]

_ROWS_AT_ONCE = 64  # their sums stay in the cache


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
            lambda: _linear(rows(), array, None if bias is None else bias.arrays[index]),
            array.file,
        )

    return Parameter(name, tuple(map(of_layer, range(len(weight.arrays)))), weight.of_layer)


def _linear(rows: F64Array, weight: Array, bias: Array | None) -> F64Array:
    columns = np.ascontiguousarray(weight.values.T.astype(np.float64))  # [inputs, outputs]
    sums = np.zeros((len(rows), columns.shape[1]))
    product = np.empty((_ROWS_AT_ONCE, columns.shape[1]))
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        some, block = rows[first : first + _ROWS_AT_ONCE], sums[first : first + _ROWS_AT_ONCE]
        for k in range(len(columns)):
            np.multiply(some[:, k, None], columns[k], out=product[: len(some)])
            block += product[: len(some)]
    return sums if bias is None else sums + bias.values.astype(np.float64)


def _sum_of_columns(x: F64Array) -> F64Array:
    total = np.zeros(len(x))
    for column in x.T:
        total = total + column
    return total
