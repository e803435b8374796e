# SPDX-License-Identifier: Apache-2.0
"""State spaces in float32: sums in order, and nothing below 2^-40 but +0, so that nothing is subnormal."""

from __future__ import annotations

import numpy as np

from ..ir.program import StateSpace, StateSpaceWeights
from ..ir.state_space import OUTPUT_LIMIT
from .activations import silu, softplus
from .floats import F32Array, without_tiny
from .polynomials import exp2


def state_space(
    op: StateSpace, weights: StateSpaceWeights, state: F32Array, rows: F32Array, time: F32Array
) -> tuple[F32Array, F32Array]:
    """What some rows of a text take from a state [heads, state_width, value_width], and the state behind them."""
    rows = without_tiny(silu(rows))
    values = rows[:, : op.out.width].reshape(len(rows), op.heads, -1)
    inputs, outputs = (
        np.repeat(part.reshape(len(rows), op.groups, -1), op.heads // op.groups, axis=1)
        for part in np.split(rows[:, op.out.width :], 2, axis=1)
    )
    steps = np.minimum(np.maximum(softplus(time), op.least_time), op.most_time)
    left, found = exp2(-(weights.rates * steps)), []
    for x, b, c, d, of_state in zip(values, inputs, outputs, steps, left, strict=True):
        change = without_tiny(x * d[:, None])
        y = np.zeros_like(x)
        state = without_tiny(state * of_state[:, None, None] + b[:, :, None] * change[:, None])
        for i in range(op.state_width):
            y = y + c[:, i, None] * state[:, i]
        found.append(np.clip(y + weights.skips[:, None] * x, -np.float32(OUTPUT_LIMIT), np.float32(OUTPUT_LIMIT)))
    return np.array(found, np.float32).reshape(len(rows), -1), state
