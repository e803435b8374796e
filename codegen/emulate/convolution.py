# SPDX-License-Identifier: Apache-2.0
"""A causal depthwise convolution in float32: products are added from +0, the earliest row's first, then the bias."""

from __future__ import annotations

import numpy as np

from ..ir.weights import ConvolutionWeights
from .floats import F32Array


def convolution(rows: F32Array, weights: ConvolutionWeights) -> F32Array:
    """[rows - (taps - 1), width]: the first rows, one fewer than taps, are those before."""
    count = len(rows) - (len(weights.taps) - 1)
    y = np.zeros((count, rows.shape[1]), np.float32)
    for i, tap in enumerate(weights.taps):
        y = y + rows[i : i + count] * tap
    return y if weights.bias is None else y + weights.bias
