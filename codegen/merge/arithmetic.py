# SPDX-License-Identifier: Apache-2.0
"""Weights with an adapter in them, as PEFT's `merge_and_unload` has them: float64 until they are stored as float32, in
an order that no machine changes."""

from __future__ import annotations

import numpy as np

from ..ir.parameter import F32Array
from .adapter import LowRank

_ROWS_AT_ONCE = 64  # of a weight, so that they stay in the cache


@np.errstate(all="ignore")  # what is not finite then is refused where it is stored
def with_low_rank(weight: F32Array, change: LowRank) -> F32Array:
    """weight + scale * b a of the same shape; with DoRA's magnitudes, each row then gets the length that is its own."""
    merged = np.empty(weight.shape, np.float32)
    a = change.a.astype(np.float64)
    for begin in range(0, len(weight), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        b = change.b[rows].astype(np.float64)
        product = np.zeros(weight[rows].shape)
        for k in range(len(a)):
            product += b[:, k, None] * a[k]
        moved = weight[rows].astype(np.float64) + change.scale * product
        if change.magnitude is not None:
            lengths = np.sqrt(np.cumsum(moved * moved, axis=1)[:, -1:])
            moved *= change.magnitude[rows, None].astype(np.float64) / lengths
        merged[rows] = moved
    return merged


def with_bias(bias: F32Array, change: LowRank) -> F32Array:
    """bias + scale * what the adapter has."""
    assert change.bias is not None
    return (bias.astype(np.float64) + change.scale * change.bias.astype(np.float64)).astype(np.float32)
