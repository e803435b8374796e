# SPDX-License-Identifier: Apache-2.0
"""Multi-head attention of one text: weights are exp2(score - largest score), divided by their sum at the end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..program import HeadShape
from .floats import (
    INVERSE_127,
    LEAST_MAXIMUM,
    F32Array,
    QuantizedRows,
    integer_product,
    ordered_product,
    quantize_rows,
    row_maximum,
    row_sum,
)
from .polynomials import exp2

_SCORES_AT_ONCE = 1 << 18


def split_heads(rows: F32Array, shape: HeadShape) -> F32Array:
    """[rows, heads * width] to [heads, rows, width]."""
    return np.ascontiguousarray(rows.reshape(-1, shape.heads, shape.width).swapaxes(0, 1))


def attention_s8(query: F32Array, keys: QuantizedRows, values: QuantizedRows, shape: HeadShape) -> F32Array:
    """query [rows, heads * width]; keys and values [heads, tokens, width], quantized per (head, token)."""
    context = np.empty_like(query)
    queries = quantize_rows(split_heads(query, shape))
    for head, rows, columns in _pieces(len(query), keys.q.shape[1], shape):
        context[rows, columns] = _head_s8(queries[head, rows], keys[head], values[head], shape.score_scale)
    return context


def attention_f32(query: F32Array, keys: F32Array, values: F32Array, shape: HeadShape) -> F32Array:
    """The same in float32; keys and values [heads, tokens, width]."""
    context = np.empty_like(query)
    queries = split_heads(query, shape)
    for head, rows, columns in _pieces(len(query), keys.shape[1], shape):
        context[rows, columns] = _head_f32(queries[head, rows], keys[head], values[head], shape.score_scale)
    return context


def _pieces(rows: int, tokens: int, shape: HeadShape) -> Iterator[tuple[int, slice, slice]]:
    """(head, query rows, columns of the head): so few rows at once that the scores stay small in memory."""
    step = max(1, _SCORES_AT_ONCE // tokens)
    for head in range(shape.heads):
        for first in range(0, rows, step):
            yield head, slice(first, first + step), slice(head * shape.width, (head + 1) * shape.width)


def _head_s8(query: QuantizedRows, keys: QuantizedRows, values: QuantizedRows, score_scale: np.float32) -> F32Array:
    scores = (integer_product(query.q, keys.q.T) * (query.scales * score_scale)[:, None]) * keys.scales
    e, total = _exponentials(scores)
    weights = e * values.scales
    largest = row_maximum(weights)
    divisor = np.where(largest >= LEAST_MAXIMUM, largest, np.float32(1))  # with 1, all round to 0
    probabilities = np.rint(weights * (np.float32(127) / divisor)[:, None])
    return integer_product(probabilities, values.q) * ((largest * INVERSE_127) / total)[:, None]


def _head_f32(query: F32Array, keys: F32Array, values: F32Array, score_scale: np.float32) -> F32Array:
    e, total = _exponentials(ordered_product(query, keys.T) * score_scale)
    return ordered_product(e, values) * (np.float32(1) / total)[:, None]


def _exponentials(scores: F32Array) -> tuple[F32Array, F32Array]:
    """(2^(score - largest of the row), their sum)."""
    e = exp2(scores - row_maximum(scores)[:, None])
    return e, row_sum(e)
