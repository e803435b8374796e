# SPDX-License-Identifier: Apache-2.0
"""A linear in float64 whose bytes are the same everywhere: BLAS adds in an order that depends on the CPU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...ir.parameter import FloatArray

F64Array = NDArray[np.float64]

_ROWS_AT_ONCE = 64  # their sums stay in the cache


def ordered_linear(rows: FloatArray, weight: FloatArray, bias: FloatArray | None = None) -> F64Array:
    """rows weight^T + bias, a weight being [outputs, inputs]: each sum in the order of the inputs, the bias last."""
    columns = np.ascontiguousarray(weight.T.astype(np.float64))  # [inputs, outputs]
    sums = np.zeros((len(rows), columns.shape[1]))
    product = np.empty((_ROWS_AT_ONCE, columns.shape[1]))
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[first : first + _ROWS_AT_ONCE].astype(np.float64)
        block = sums[first : first + _ROWS_AT_ONCE]
        for k in range(len(columns)):
            np.multiply(some[:, k, None], columns[k], out=product[: len(some)])
            block += product[: len(some)]
    return sums if bias is None else sums + bias.astype(np.float64)
