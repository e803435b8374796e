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
    context = np.empty((shape.heads, len(query), shape.width), np.float32)
    queries = quantize_rows(split_heads(query, shape))
    for heads, rows in _pieces(len(query), keys.q.shape[1], shape):
        context[heads, rows] = _heads_s8(queries[heads, rows], keys[heads], values[heads], shape.score_scale)
    return _join_heads(context)


def attention_f32(query: F32Array, keys: F32Array, values: F32Array, shape: HeadShape) -> F32Array:
    """The same in float32; keys and values [heads, tokens, width]."""
    context = np.empty((shape.heads, len(query), shape.width), np.float32)
    queries = split_heads(query, shape)
    for heads, rows in _pieces(len(query), keys.shape[1], shape):
        for head in range(heads.start, heads.stop):
            context[head, rows] = _head_f32(queries[head, rows], keys[head], values[head], shape.score_scale)
    return _join_heads(context)


def _join_heads(context: F32Array) -> F32Array:
    """[heads, rows, width] to [rows, heads * width]."""
    return context.swapaxes(0, 1).reshape(context.shape[1], -1)


def _pieces(rows: int, tokens: int, shape: HeadShape) -> Iterator[tuple[slice, slice]]:
    """(heads, query rows): so few at once that the scores stay small in memory, but all heads of a short text."""
    heads = max(1, _SCORES_AT_ONCE // (rows * tokens))
    step = max(1, _SCORES_AT_ONCE // tokens)
    for head in range(0, shape.heads, heads):
        for first in range(0, rows, step):
            yield slice(head, min(head + heads, shape.heads)), slice(first, first + step)


def _heads_s8(query: QuantizedRows, keys: QuantizedRows, values: QuantizedRows, score_scale: np.float32) -> F32Array:
    products = integer_product(query.q, keys.q.swapaxes(1, 2))
    scores = (products * (query.scales * score_scale)[..., None]) * keys.scales[:, None]
    e, total = _exponentials(scores)
    weights = e * values.scales[:, None]
    largest = row_maximum(weights)
    divisor = np.where(largest >= LEAST_MAXIMUM, largest, np.float32(1))  # with 1, all round to 0
    probabilities = np.rint(weights * (np.float32(127) / divisor)[..., None])
    return integer_product(probabilities, values.q) * ((largest * INVERSE_127) / total)[..., None]


def _head_f32(query: F32Array, keys: F32Array, values: F32Array, score_scale: np.float32) -> F32Array:
    e, total = _exponentials(ordered_product(query, keys.T) * score_scale)
    return ordered_product(e, values) * (np.float32(1) / total)[:, None]


def _exponentials(scores: F32Array) -> tuple[F32Array, F32Array]:
    """(2^(score - largest of the row), their sum)."""
    e = exp2(scores - row_maximum(scores)[..., None])
    return e, row_sum(e)
