# SPDX-License-Identifier: Apache-2.0
"""Multi-head attention of one text: weights are exp2(score - largest score), divided by their sum at the end.

A bias, or products with relative rows, are added to a score; a key that may not be seen has a score of -2^100, so that
its weight is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ir.op import ByLayer
from ..ir.program import Attention, SoftCap
from .floats import (
    INVERSE_127,
    LANES,
    LEAST_MAXIMUM,
    F32Array,
    QuantizedRows,
    integer_product,
    ordered_product,
    quantize_rows,
    row_maximum,
    row_sum,
)
from .polynomials import exp2, tanh
from .pooled_rows import OfPooledRows

_SCORES_AT_ONCE = 1 << 18
_UNSEEN = np.float32(-(2.0**100))


def capped(x: F32Array, cap: SoftCap | None) -> F32Array:
    """What a cap leaves of values."""
    return x if cap is None else tanh(x * cap.inverse) * cap.limit


def split_heads(rows: F32Array, heads: int) -> F32Array:
    """[rows, heads * width] to [heads, rows, width]."""
    return np.ascontiguousarray(rows.reshape(len(rows), heads, -1).swapaxes(0, 1))


Rows = F32Array | QuantizedRows


@dataclass(frozen=True)
class Relative:
    """Relative keys and queries [heads, rows, width], and which row a distance has, key - query from the least on."""

    keys: Rows | None
    queries: Rows | None
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class Pooled:
    """The same of pooled rows, with segment keys [heads, 2, width] and a bias [heads, 2, relative keys]."""

    keys: Rows
    segment_keys: Rows
    bias: F32Array
    of: OfPooledRows


def attention(
    op: Attention,
    query: F32Array,
    keys: Rows,
    values: Rows,
    bias: F32Array | None = None,
    relative: Relative | Pooled | None = None,
    position: int = 0,
    global_keys: slice = slice(0),
    sinks: F32Array | None = None,
) -> F32Array:
    """query [rows, heads * width] of a text's rows from `position` on; keys and values [key heads, tokens, width], in
    s8 quantized per (head, token); `bias` [heads, distances]. `global_keys` are seen beside a window; `sinks`
    [heads] are scores without a value."""
    heads, tokens = op.shape.heads, keys.shape[1]
    context = np.empty((heads, len(query), op.shape.width), np.float32)
    group = heads // op.shape.key_heads
    split = split_heads(query, heads)
    queries = quantize_rows(split) if isinstance(keys, QuantizedRows) else split
    for some, rows in _pieces(len(query), tokens, heads):
        of_keys = some if group == 1 else np.arange(some.start, some.stop) // group
        added = _added(op, bias, some, np.arange(rows.start, rows.stop) + position, tokens)
        if isinstance(relative, Pooled):
            added = _pooled(op, relative, queries, some, rows), None
        elif relative is not None:
            added = _relative(op, relative, queries, keys, some, rows), None
        if added[1] is not None and global_keys.stop:
            both = keys[of_keys], values[of_keys]
            context[some, rows] = _beside_window(op, queries[some, rows], *both, added[1], global_keys)
            continue
        if isinstance(keys, QuantizedRows) and isinstance(values, QuantizedRows):
            both = keys[of_keys], values[of_keys]
            assert isinstance(queries, QuantizedRows)
            context[some, rows] = _heads_s8(
                op, queries[some, rows], *both, added, sinks if sinks is None else sinks[some]
            )
            continue
        assert isinstance(queries, np.ndarray) and isinstance(keys, np.ndarray) and isinstance(values, np.ndarray)
        for head in range(some.start, some.stop):
            one = tuple(of_heads[head - some.start] for of_heads in added[0]), added[1]
            of_key = head // group
            sink = sinks if sinks is None else sinks[head]
            context[head, rows] = _head_f32(op, queries[head, rows], keys[of_key], values[of_key], one, sink)
    return context.swapaxes(0, 1).reshape(len(query), -1)  # heads side by side again


def _beside_window(
    op: Attention, query: Rows, keys: Rows, values: Rows, near: NDArray[np.bool_], global_keys: slice
) -> F32Array:
    """Of the global keys, in whole panels of 16, and of the others: sums of values by themselves, which are added up.
    The largest score and the sum of powers are those of both."""
    tokens = np.arange(keys.shape[1])
    is_global = (global_keys.start <= tokens) & (tokens < global_keys.stop)
    begin = global_keys.start // LANES * LANES
    columns = np.arange(begin, begin - (begin - global_keys.stop) // LANES * LANES)  # of panels
    key_of = np.minimum(columns, len(tokens) - 1)
    seen_first = np.tile(is_global[key_of] & (columns == key_of), (len(near), 1))
    scores = _products(query, keys, op.score_scale)
    both = np.concatenate([scores[..., key_of], scores], axis=-1)
    e, total = _exponentials(both, ((), np.concatenate([seen_first, near & ~is_global], axis=1)))
    first = _sum_of_values(e[..., : global_keys.stop - begin], total, values[:, begin : global_keys.stop])
    return _sum_of_values(e[..., len(columns) :], total, values) + first


# What is added to each score, one after the other, and which keys may be seen.
_Added = tuple[tuple[F32Array, ...], NDArray[np.bool_] | None]


def _added(op: Attention, bias: F32Array | None, heads: slice, positions: NDArray, tokens: int) -> _Added:
    distance = np.arange(tokens)[None, :] - positions[:, None]  # key - query
    assert not isinstance(op.window, ByLayer)
    added = () if bias is None else (bias[heads][:, distance + (bias.shape[1] // 2)],)
    if op.mask == "none":
        return added, None
    if op.mask == "blocks" and op.window is not None:
        return added, positions[:, None] // op.window == np.arange(tokens)[None, :] // op.window
    first = -tokens if op.window is None else -op.window
    return added, (first <= distance) & (distance <= (op.window if op.mask == "window" else 0))


def _relative(
    op: Attention, relative: Relative, query: Rows, keys: Rows, heads: slice, rows: slice
) -> tuple[F32Array, ...]:
    """Of each query its product with the relative key of the distance, then of each key that with the relative query,
    [heads, rows, tokens]; a score is made of either as of query and key, its first factor being the row."""
    tokens = keys.shape[1]
    row, column = np.arange(rows.start, rows.stop)[:, None], np.arange(tokens)[None, :]
    of_distance = relative.rows[column - row + len(relative.rows) // 2]
    found = []
    if relative.keys is not None:
        scores = _products(query[heads, rows], relative.keys[heads], op.score_scale)
        found.append(np.take_along_axis(scores, of_distance[None], axis=2))
    if relative.queries is not None:
        scores = _products(keys[heads], relative.queries[heads], op.score_scale)
        found.append(scores[:, column, of_distance])
    return tuple(found)


def _pooled(op: Attention, pooled: Pooled, query: Rows, heads: slice, rows: slice) -> tuple[F32Array, ...]:
    """What is added, one after the other, [heads, rows, keys]: +0 where a score has none of it."""
    relative, same, apart = pooled.of.relative[rows], pooled.of.same[rows], pooled.of.apart[rows]
    found = []
    for keys, which in ((pooled.keys, relative), (pooled.segment_keys, same)):
        products = _products(query[heads, rows], keys[heads], op.score_scale)
        # The first row's, which are left out, may be of distances that no other row has.
        found.append(np.take_along_axis(products, np.where(apart, 0, which)[None], axis=2))
    found.append(pooled.bias[heads][:, same, np.where(apart, 0, relative)])
    return tuple(np.where(apart, np.float32(0), each) for each in found)


def _products(a: Rows, b: Rows, score_scale: np.float32) -> F32Array:
    """a [heads, rows, width], b [heads, columns, width] to scores [heads, rows, columns]."""
    if isinstance(a, QuantizedRows) and isinstance(b, QuantizedRows):
        products = integer_product(a.q, b.q.swapaxes(1, 2))
        return (products * (a.scales * score_scale)[..., None]) * b.scales[:, None]
    assert isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return np.stack([ordered_product(one, other.T) * score_scale for one, other in zip(a, b, strict=True)])


def _pieces(rows: int, tokens: int, count: int) -> Iterator[tuple[slice, slice]]:
    """(heads, query rows): so few at once that the scores stay small in memory, but all heads of a short text."""
    heads = max(1, _SCORES_AT_ONCE // (rows * tokens))
    step = max(1, _SCORES_AT_ONCE // tokens)
    for head in range(0, count, heads):
        for first in range(0, rows, step):
            yield slice(head, min(head + heads, count)), slice(first, min(first + step, rows))


def _heads_s8(
    op: Attention,
    query: QuantizedRows,
    keys: QuantizedRows,
    values: QuantizedRows,
    added: _Added,
    sinks: F32Array | None,
) -> F32Array:
    scores = capped(_products(query, keys, op.score_scale), op.cap)
    return _sum_of_values(*_exponentials(scores, added, None if sinks is None else sinks[:, None]), values)


def _head_f32(
    op: Attention, query: F32Array, keys: F32Array, values: F32Array, added: _Added, sink: np.float32 | None
) -> F32Array:
    e, total = _exponentials(capped(ordered_product(query, keys.T) * op.score_scale, op.cap), added, sink)
    return ordered_product(e, values) * (np.float32(1) / total)[:, None]


def _sum_of_values(e: F32Array, total: F32Array, values: Rows) -> F32Array:
    """[heads, rows, width] of e [heads, rows, keys], whose sums are `total`."""
    if not isinstance(values, QuantizedRows):
        sums = np.stack([ordered_product(one, of_head) for one, of_head in zip(e, values, strict=True)])
        return sums * (np.float32(1) / total)[..., None]
    weights = e * values.scales[:, None]
    largest = row_maximum(weights)
    divisor = np.where(largest >= LEAST_MAXIMUM, largest, np.float32(1))  # with 1, all round to 0
    probabilities = np.rint(weights * (np.float32(127) / divisor)[..., None])
    return integer_product(probabilities, values.q) * ((largest * INVERSE_127) / total)[..., None]


def _exponentials(
    scores: F32Array, added: _Added, sinks: F32Array | np.float32 | None = None
) -> tuple[F32Array, F32Array]:
    """(2^(score - largest of the row), their sum). With `sinks`, which fit the rows, that is the sum of a panel of 16,
    too, which has the sink first and then no keys, before those."""
    biases, seen = added
    for bias in biases:
        scores = scores + bias
    scores = scores if seen is None else np.where(seen, scores, _UNSEEN)
    if sinks is not None:
        panel = np.full((*scores.shape[:-1], LANES), _UNSEEN)
        panel[..., 0] = sinks
        scores = np.concatenate([panel, scores], axis=-1)
    e = exp2(scores - row_maximum(scores)[..., None])
    return e if sinks is None else e[..., LANES:], row_sum(e)
