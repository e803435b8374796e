# SPDX-License-Identifier: Apache-2.0
"""The gated delta rule in float64, row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ir.delta_rule import DeltaRule

_EPSILON = 1e-6
F64Array = NDArray[np.float64]


def delta_rule(op: DeltaRule, rates: F64Array, rows: F64Array, decay: F64Array, beta: F64Array) -> F64Array:
    """[rows, heads * width] of all rows of a text."""
    rows = rows / (1 + np.exp(-rows))
    queries, keys = (
        _of_heads(rows[:, first : first + op.keys], op.key_heads, op.heads // op.key_heads) for first in (0, op.keys)
    )
    values = rows[:, 2 * op.keys :].reshape(len(rows), op.heads, -1)
    left = np.exp(-rates * np.logaddexp(0, decay))
    state, found = np.zeros((op.heads, op.key_width, values.shape[2])), []
    for q, k, v, b, d in zip(queries / np.sqrt(op.key_width), keys, values, beta, left, strict=True):
        state = state * d[:, None, None]
        change = b[:, None] * (v - np.einsum("hk,hkv->hv", k, state))
        state = state + k[:, :, None] * change[:, None]
        found.append(np.einsum("hk,hkv->hv", q, state))
    return np.array(found).reshape(len(rows), -1)


def _of_heads(rows: F64Array, heads: int, times: int) -> F64Array:
    """[rows, heads * times, width], of length 1."""
    split = rows.reshape(len(rows), heads, -1)
    return np.repeat(split / np.sqrt((split**2).sum(-1, keepdims=True) + _EPSILON), times, axis=1)
