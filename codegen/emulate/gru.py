# SPDX-License-Identifier: Apache-2.0
"""A layer of PyTorch's GRU behind its input products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir.program import F32Matrix, LinearWeights
from .floats import LEAST_MAXIMUM, F32Array, quantize_rows
from .linear import linear
from .polynomials import sigmoid, tanh


def gru(a: F32Array, texts: Sequence[slice], directions: Sequence[LinearWeights]) -> F32Array:
    """Input products [rows, directions * 3 * width] to [rows, directions * width]. A step is computed for all texts
    that are long enough at once."""
    width = directions[0].matrix.shape[1]
    out = np.zeros((len(a), len(directions) * width), np.float32)
    first, counts = (np.array(of_text) for of_text in zip(*((t.start, t.stop - t.start) for t in texts), strict=True))
    for direction, weights in enumerate(directions):
        of_input = a[:, 3 * width * direction : 3 * width * (direction + 1)]
        states = out[:, width * direction : width * (direction + 1)]
        for step in range(counts.max()):
            long = counts > step
            rows = (first + step if direction == 0 else first + counts - 1 - step)[long]
            before = np.zeros((len(rows), width), np.float32)
            if step:
                before = states[rows - 1 if direction == 0 else rows + 1]
            states[rows] = _step(of_input[rows], before, weights)
    return out


def _step(a: F32Array, h: F32Array, weights: LinearWeights) -> F32Array:
    """r, z = sigmoid(a + b); n = tanh(a_n + r * b_n); (1 - z) * n + z * h, +0 where that is below 2^-40."""
    b = linear(h if isinstance(weights.matrix, F32Matrix) else quantize_rows(h), weights, "none", None)
    width = h.shape[1]
    gates = sigmoid(a[:, : 2 * width] + b[:, : 2 * width])
    r, z = gates[:, :width], gates[:, width:]
    n = tanh(a[:, 2 * width :] + r * b[:, 2 * width :])
    states = (np.float32(1) - z) * n + z * h
    return np.where(np.abs(states) < LEAST_MAXIMUM, np.float32(0), states)
