# SPDX-License-Identifier: Apache-2.0
"""Symmetric quantization to 8 or 7 bits with one scale per row: weights per output channel, embeddings per entry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ir.constants import TINY
from ..ir.parameter import F32Array, FloatArray
from ..ir.program import S7Matrix, S8Matrix

_ROWS_AT_ONCE = 4096  # keeps the float64 copies of a large embedding table small


def quantize_rows(values: FloatArray) -> S8Matrix:
    """m = max |w| in float64; q = rne(w * 127.0 / m), scale = float32(m / 127.0); both 0 where that is below 2^-40.

    `values` is [rows, width], finite. q is in [-127, 127].
    """
    return S8Matrix(*_quantize(values, 127.0))


def quantize_rows_s7(values: F32Array) -> S7Matrix:
    """The same with 63 in the place of 127."""
    return S7Matrix(*_quantize(values, 63.0))


def _quantize(values: FloatArray, most: float) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """q in [-most, most], and scales."""
    q = np.zeros(values.shape, np.int8)
    scales = np.zeros(values.shape[0], np.float32)
    for begin in range(0, values.shape[0], _ROWS_AT_ONCE):
        rows = values[begin : begin + _ROWS_AT_ONCE].astype(np.float64)
        largest = np.abs(rows).max(axis=1)
        scale = (largest / most).astype(np.float32)
        used = scale >= np.float32(TINY)
        q[begin : begin + _ROWS_AT_ONCE][used] = np.rint(rows[used] * most / largest[used, None]).astype(np.int8)
        scales[begin : begin + _ROWS_AT_ONCE] = np.where(used, scale, np.float32(0))
    return q, scales
