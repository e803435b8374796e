# SPDX-License-Identifier: Apache-2.0
"""Rows that are pooled, and what attention of such rows adds to scores."""

from __future__ import annotations

import numpy as np

from ..ir import graph as g
from ..ir.row_pooling import SEGMENT_OF_ALL, PooledScores
from .functions import F64Array
from .state import INTERPRET, State, split_heads


def pooled_scores(
    op: g.Attention, pooled: PooledScores, at: State, query: F64Array, keys: int, scale: float
) -> F64Array:
    """Of each query and key what their tokens' distance and segments add [heads, queries, keys]."""
    assert op.relative_keys is not None and op.segment_keys is not None and op.bias is not None
    pooling, level, rows = pooled.pooling, pooled.level, query.shape[1]
    token = pooling.tokens(level, rows)
    token_of_key = pooling.tokens(level if keys == rows else level - 1, keys)
    unit = 1 << max(level - 1, 0)
    # A text of which no row is pooled any more has one row beside the first, whose distance to itself is 0.
    row = (token_of_key[None, :] - token[:, None]) // unit + at.weight(op.relative_keys).shape[0] // 2
    segments = at.indices["segments"]
    of_query, of_key = segments[token][:, None], segments[token_of_key][None, :]
    same = ((of_query == of_key) | (of_query == SEGMENT_OF_ALL) | (of_key == SEGMENT_OF_ALL)).astype(np.int64)
    i = np.arange(rows)[:, None]
    by_distance, by_segment = (
        query @ split_heads(at.weight(table), op.heads).swapaxes(1, 2) for table in (op.relative_keys, op.segment_keys)
    )
    bias = at.weight(op.bias).reshape(op.heads, 2, -1)
    found = (by_distance[:, i, row] + by_segment[:, i, same]) * scale + bias[:, same, row]
    if pooling.apart:
        found[:, 0], found[:, :, 0] = 0, 0
    return found


@INTERPRET.on(g.PoolRows)
def _pool_rows(op: g.PoolRows, at: State) -> None:
    if at.layer:
        return
    rows, pooling = at.values[op.value], op.pooling
    first, second = rows[pooling.firsts(len(rows))], rows[pooling.seconds(len(rows))]
    at.values[op.value] = (first + second) / 2 if pooling.by == "mean" else np.maximum(first, second)


@INTERPRET.on(g.Upsample)
def _upsample(op: g.Upsample, at: State) -> None:
    rows, value = at.values[op.input], at.values[op.value].copy()
    of_tokens = op.pooling.rows_of_tokens(op.level, len(value))
    has_one = of_tokens < len(rows)
    value[has_one] += rows[of_tokens[has_one]]
    at.values[op.value] = value


@INTERPRET.on(g.Copy)
def _copy(op: g.Copy, at: State) -> None:
    at.values[op.out] = at.values[op.input]
