# SPDX-License-Identifier: Apache-2.0
"""One row per text, and what becomes of rows of outputs. Values below 2^-40 in magnitude count as +0 on the way into
pool() and normalize()."""

from __future__ import annotations

import numpy as np

from ..ir.graph import Pooling
from .floats import F32Array, row_maximum, row_sum, without_tiny
from .polynomials import LOG2E, exp2

LEAST_LENGTH = np.float32(1e-12)


def pool(kind: Pooling, x: F32Array) -> F32Array:
    """x [rows, width] of one text -> [1, width]; sums start at +0 and add row after row."""
    x = without_tiny(x)
    if kind == "first":
        return x[:1]
    if kind == "last":
        return x[-1:]
    if kind == "ends":
        half = x.shape[1] // 2
        return np.concatenate([x[-1:, :half], x[:1, half:]], axis=1)
    if kind == "max":
        return x.max(axis=0, keepdims=True)
    sums, rows = np.zeros_like(x[0]), np.float32(len(x))
    if kind == "weighted_mean":
        for weight, row in enumerate(x, 1):
            sums = sums + row * np.float32(weight)
        return (sums * (np.float32(1) / (rows * (rows + np.float32(1)) * np.float32(0.5))))[None]
    for row in x:
        sums = sums + row
    return (sums * (np.float32(1) / (rows if kind == "mean" else np.sqrt(rows))))[None]


def normalize(x: F32Array) -> F32Array:
    """x * (1 / max(sqrt(sum of squares along the row), 1e-12))."""
    x = without_tiny(x)
    length = np.sqrt(row_sum(x * x))
    divisor: F32Array = np.where(length > LEAST_LENGTH, length, LEAST_LENGTH)
    return x * (np.float32(1) / divisor)[..., None]


def softmax(x: F32Array) -> F32Array:
    """t = x * log2(e); exp2(t - largest t of the row) * (1 / their sum)."""
    t = x * LOG2E
    e = exp2(t - row_maximum(t)[..., None])
    return e * (np.float32(1) / row_sum(e))[..., None]
