# SPDX-License-Identifier: Apache-2.0
"""Rows of an embedding table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..program import EmbeddingWeights, S4Matrix, S8Matrix
from .floats import F32Array


def entries(weights: EmbeddingWeights, index: NDArray[np.int64]) -> F32Array:
    """float(q) * scale of the row, or the floats themselves."""
    matrix = weights.matrix
    if isinstance(matrix, S4Matrix):
        matrix, index = (
            S4Matrix(matrix.q[index], matrix.factors[index], matrix.scales[index]).expanded,
            np.arange(index.size),
        )
    if isinstance(matrix, S8Matrix):
        return matrix.q[index].astype(np.float32) * matrix.scales[index][:, None]
    return matrix.values[index]
