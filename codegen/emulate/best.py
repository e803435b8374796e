# SPDX-License-Identifier: Apache-2.0
"""The largest entries of a row of logits and their probabilities, a block of entries after the other."""

from __future__ import annotations

import numpy as np

from ..ir.program import VOCABULARY_BLOCK
from .floats import F32Array, row_maximum, row_sum
from .polynomials import LOG2E, exp2


def best(logits: F32Array, count: int) -> F32Array:
    """[rows, entries] -> [rows, 2 * count]: indices, then probabilities, the largest first, of equal ones the first.

    t = x * log2(e). M is the largest t so far, S the sum of powers so far: the first block's row sum of
    exp2(t - its largest); then, with m the largest t of a block and T the larger of M and m,
    S = S * exp2(M - T) + (row sum of exp2(t - m)) * exp2(m - T) and M = T. A probability is exp2(t - M) * (1 / S).
    """
    t = logits * LOG2E
    largest, total = powers_of(t)
    order = np.argsort(-t, axis=-1, kind="stable")[:, :count]
    powers = exp2(np.take_along_axis(t, order, axis=-1) - largest[:, None])
    return np.concatenate([order.astype(np.float32), powers * (np.float32(1) / total)[:, None]], axis=-1)


def powers_of(t: F32Array) -> tuple[F32Array, F32Array]:
    """M and S of each row, as above."""
    largest, total = _block(t[:, :VOCABULARY_BLOCK])
    for first in range(VOCABULARY_BLOCK, t.shape[1], VOCABULARY_BLOCK):
        of_block, powers = _block(t[:, first : first + VOCABULARY_BLOCK])
        higher = np.maximum(largest, of_block)
        total = total * exp2(largest - higher) + powers * exp2(of_block - higher)
        largest = higher
    return largest, total


def _block(t: F32Array) -> tuple[F32Array, F32Array]:
    """The largest of each row, and the row sum of what they are raised to."""
    largest = row_maximum(t)
    return largest, row_sum(exp2(t - largest[:, None]))
