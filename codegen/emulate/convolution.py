# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions in float32: products are added from +0, the earliest row's first, then the bias."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir.weights import ConvolutionWeights
from .floats import F32Array


def convolution(rows: F32Array, weights: ConvolutionWeights) -> F32Array:
    """[rows - (taps - 1), width]: the first rows, one fewer than taps, are those before."""
    y = _summed(rows, weights.taps)
    return y if weights.bias is None else y + weights.bias


def centered(rows: F32Array, weights: ConvolutionWeights) -> F32Array:
    """[rows, width]; zeros outside of the text add nothing."""
    return convolution(_with_rows_around(rows, len(weights.taps)), weights)


def dynamic(rows: F32Array, taps: F32Array, heads: int) -> F32Array:
    """The same where `taps` [rows, heads * count] are the rows' own. Of a text whose first row alone is asked for they
    are the first row's."""
    width, by_head = rows.shape[1], taps.reshape(len(taps), heads, -1)
    count = by_head.shape[2]
    of_channels = np.repeat(by_head, width // heads, axis=1)  # [rows, width, count]
    around = _with_rows_around(rows, count)[: len(taps) + count - 1]
    return _summed(around, [of_channels[:, :, i] for i in range(count)])


def _summed(rows: F32Array, taps: Sequence[F32Array] | F32Array) -> F32Array:
    """Each of the taps is [width], or [rows, width]."""
    count = len(rows) - (len(taps) - 1)
    y = np.zeros((count, rows.shape[1]), np.float32)
    for i, tap in enumerate(taps):
        y = y + rows[i : i + count] * tap
    return y


def _with_rows_around(rows: F32Array, taps: int) -> F32Array:
    return np.pad(rows, ((taps // 2, taps // 2), (0, 0)))
