# SPDX-License-Identifier: Apache-2.0
"""y = activation(x W^T + b) + residual."""

from __future__ import annotations

import numpy as np

from ..ir.program import F32Matrix, LinearWeights, S4Matrix, S8Matrix
from .activations import ACTIVATIONS
from .floats import F32Array, QuantizedRows, integer_product, ordered_product


def linear(x: F32Array | QuantizedRows, weights: LinearWeights, activation: str, residual: F32Array | None) -> F32Array:
    """Rows of x [rows, inputs] to [rows, outputs]; the weights' matrix and x are both s8 or both f32."""
    matrix = weights.matrix.expanded if isinstance(weights.matrix, S4Matrix) else weights.matrix
    if isinstance(x, QuantizedRows) and isinstance(matrix, S8Matrix):
        y = (integer_product(x.q, matrix.q.T) * x.scales[:, None]) * matrix.scales
    elif isinstance(x, np.ndarray) and isinstance(matrix, F32Matrix):
        y = ordered_product(x, matrix.values.T)
    else:
        raise TypeError(f"{weights.source}: rows and weights are of different kinds")
    y = y + (np.float32(0) if weights.bias is None else weights.bias)
    y = ACTIVATIONS[activation](y)
    return y if residual is None else y + residual
