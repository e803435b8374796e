# SPDX-License-Identifier: Apache-2.0
"""State spaces in float64, row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ir.state_space import StateSpace
from .state import INTERPRET, State

F64Array = NDArray[np.float64]


@INTERPRET.on(StateSpace)
def _state_space(op: StateSpace, at: State) -> None:
    rates, skips = at.weight(op.rates), at.weight(op.skips)
    at.values[op.out] = state_space(op, rates, skips, at.values[op.input], at.values[op.time])


def state_space(op: StateSpace, rates: F64Array, skips: F64Array, rows: F64Array, time: F64Array) -> F64Array:
    """[rows, heads * width] of all rows of a text."""
    rows = rows / (1 + np.exp(-rows))
    values = rows[:, : rows.shape[1] - 2 * op.of_groups].reshape(len(rows), op.heads, -1)
    inputs, outputs = (
        np.repeat(part.reshape(len(rows), op.groups, -1), op.heads // op.groups, axis=1)
        for part in np.split(rows[:, -2 * op.of_groups :], 2, axis=1)
    )
    steps = np.clip(np.logaddexp(0, time), *op.times)
    state, found = np.zeros((op.heads, op.state_width, values.shape[2])), []
    for x, b, c, d in zip(values, inputs, outputs, steps, strict=True):
        state = state * np.exp(-rates * d)[:, None, None] + b[:, :, None] * (d[:, None] * x)[:, None]
        found.append(np.einsum("hn,hnv->hv", c, state) + skips[:, None] * x)
    return np.array(found).reshape(len(rows), -1)
