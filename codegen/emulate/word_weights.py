# SPDX-License-Identifier: Apache-2.0
"""What the rows of a text say of each entry of a vocabulary."""

from __future__ import annotations

import numpy as np

from ..ir.graph import WordPooling
from ..ir.weights import LinearWeights
from .floats import LEAST_MAXIMUM, F32Array, QuantizedRows
from .linear import linear
from .polynomials import log1p

_ROWS = 64  # at a time: logits of all rows and entries would take gigabytes


def word_weights(rows: F32Array | QuantizedRows, weights: LinearWeights, pooling: WordPooling, twice: bool) -> F32Array:
    """[rows, width] -> [1, entries]: of log1p of the relu of each logit the largest, or the sum, row after row."""
    found: F32Array = np.zeros((1, weights.matrix.shape[0]), np.float32)
    for first in range(0, rows.shape[0], _ROWS):
        logits = linear(rows[first : first + _ROWS], weights, "relu", None)
        if pooling == "max":
            found = np.maximum(found, logits.max(axis=0, keepdims=True))
            continue
        for row in logits:
            found = found + _logarithm(row[None], twice)
    return _logarithm(found, twice) if pooling == "max" else found


def _logarithm(x: F32Array, twice: bool) -> F32Array:
    """Values below 2^-40 count as +0, of which the logarithm is +0."""
    once = log1p(np.where(x < LEAST_MAXIMUM, np.float32(0), x))
    return log1p(once) if twice else once
