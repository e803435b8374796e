# SPDX-License-Identifier: Apache-2.0
"""The gated delta rule in float32: sums in order, and nothing below 2^-40 but +0, so that nothing is subnormal."""

from __future__ import annotations

import numpy as np

from ..ir.program import DeltaRule, DeltaWeights
from .activations import silu, softplus
from .floats import F32Array, without_tiny
from .polynomials import exp2

_EPSILON, _ONE = np.float32(1e-6), np.float32(1)


def delta_rule(
    op: DeltaRule, weights: DeltaWeights, state: F32Array, rows: F32Array, decay: F32Array, beta: F32Array
) -> tuple[F32Array, F32Array]:
    """What some rows of a text take from a state [heads, key_width, value_width], and the state behind them."""
    keys = op.key_heads * op.key_width
    rows = without_tiny(silu(rows))
    scale = _ONE / np.sqrt(np.float32(op.key_width))
    queries = without_tiny(_of_heads(rows[:, :keys], op) * scale)
    found = []
    of_keys, values = _of_heads(rows[:, keys : 2 * keys], op), rows[:, 2 * keys :].reshape(len(rows), op.heads, -1)
    left = exp2(-(weights.rates * softplus(decay)))
    for q, k, v, b, d in zip(queries, of_keys, values, beta, left, strict=True):
        state = without_tiny(state * d[:, None, None])
        change = without_tiny((v - _product(k, state)) * b[:, None])
        state = without_tiny(state + k[:, :, None] * change[:, None])
        found.append(_product(q, state))
    return np.array(found, np.float32).reshape(len(rows), -1), state


def _of_heads(rows: F32Array, op: DeltaRule) -> F32Array:
    """[rows, heads, key_width], each head's divided by its length."""
    split = rows.reshape(len(rows), op.key_heads, -1)
    squares: F32Array = np.zeros(split.shape[:2], np.float32)
    for i in range(op.key_width):
        squares = squares + split[:, :, i] * split[:, :, i]
    factor = _ONE / np.sqrt(squares + _EPSILON)
    return np.repeat(without_tiny(split * factor[:, :, None]), op.heads // op.key_heads, axis=1)


def _product(row: F32Array, state: F32Array) -> F32Array:
    """Of each head, [key_width] times [key_width, value_width]."""
    y = np.zeros((len(row), state.shape[2]), np.float32)
    for i in range(row.shape[1]):
        y = y + row[:, i, None] * state[:, i]
    return y
