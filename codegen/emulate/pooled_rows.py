# SPDX-License-Identifier: Apache-2.0
"""Rows that are pooled in float32, and what attention of such rows adds to scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ir.row_pooling import SEGMENT_OF_ALL, PooledScores, RowPooling
from .floats import F32Array


def pooled(rows: F32Array, pooling: RowPooling) -> F32Array:
    """The next level's rows of a text: (a + b) * 0.5 of two, or the larger value; of one alone that row."""
    firsts, seconds = pooling.firsts(len(rows)), pooling.seconds(len(rows))
    a, b = rows[firsts], rows[seconds]
    both = (a + b) * np.float32(0.5) if pooling.by == "mean" else np.where(a > b, a, b)
    return np.where((firsts == seconds)[:, None], a, both)


def upsampled(rows: F32Array, level: int, pooling: RowPooling, value: F32Array) -> F32Array:
    """Rows of tokens of a text, each with the row added that stands for it."""
    of_tokens = pooling.rows_of_tokens(level, len(value))
    has_one = of_tokens < len(rows)
    found = value.copy()
    found[has_one] = rows[of_tokens[has_one]] + value[has_one]
    return found


@dataclass(frozen=True)
class OfPooledRows:
    """Of the queries and keys of a text, [queries, keys]: which relative key, whether segments are the same, and where
    scores have neither."""

    relative: NDArray[np.int64]
    same: NDArray[np.int64]
    apart: NDArray[np.bool_]


def of_pooled_rows(
    scores: PooledScores, queries: int, rows: int, keys: int, relative_keys: int, segments: NDArray[np.int64]
) -> OfPooledRows:
    """Of the first `queries` of a text's `rows` of a level. Where its keys are not as many, they are of the level
    before."""
    pooling, level = scores.pooling, scores.level
    halves = keys != rows
    i, j = np.arange(queries), np.arange(keys)
    first = np.where(i > 0, 2 * i - 1, 0) if pooling.apart else 2 * i
    distance = j[None, :] - (first if halves else i)[:, None]
    of_query = segments[pooling.tokens(level, queries)][:, None]
    of_key = segments[pooling.tokens(level - halves, keys)][None, :]
    same = (of_query == of_key) | (of_query == SEGMENT_OF_ALL) | (of_key == SEGMENT_OF_ALL)
    apart = np.zeros(distance.shape, bool)
    if pooling.apart:
        apart[0], apart[:, 0] = True, True
    steps = distance * (1 if halves or level == 0 else 2)
    return OfPooledRows(steps + relative_keys // 2, same.astype(np.int64), apart)
