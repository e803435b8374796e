# SPDX-License-Identifier: Apache-2.0
"""Float32 operations along rows, each in the one order of runtime/ARITHMETIC.md. Rows lie along the last axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ir.graph import AFFINE_LIMIT

F32Array = NDArray[np.float32]

LANES = 16
INVERSE_127 = np.float32(1.0 / 127.0)
LEAST_MAXIMUM = np.float32(2.0**-40)  # a row whose largest magnitude is below this is quantized to zero
_BLOCK_VALUES = 1 << 15  # of a product's sums, so that they stay in the cache while k runs


@dataclass(frozen=True)
class QuantizedRows:
    """A row's values are q[...] * scales[...]."""

    q: NDArray[np.int8]  # [..., n]
    scales: F32Array  # [...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.q.shape

    def __getitem__(self, rows: Any) -> QuantizedRows:
        return QuantizedRows(self.q[rows], self.scales[rows])


def row_sum(x: F32Array) -> F32Array:
    """16 partial sums from +0, element i into partial i mod 16, then partials 8, 4, 2 and 1 apart."""
    partials = np.zeros((*x.shape[:-1], LANES), np.float32)
    for first in range(0, x.shape[-1], LANES):
        part = x[..., first : first + LANES]
        partials[..., : part.shape[-1]] += part
    for distance in (8, 4, 2, 1):
        partials = partials[..., :distance] + partials[..., distance : 2 * distance]
    return partials[..., 0]


def row_maximum(x: F32Array) -> F32Array:
    """A maximum rounds nothing, so its order does not matter."""
    return x.max(axis=-1)


def quantize_rows(x: F32Array) -> QuantizedRows:
    """m = max |x|; q = rne(x * (127 / m)), s = m * (1/127); q = 0, s = 0 where m < 2^-40."""
    largest = row_maximum(np.abs(x))
    used = largest >= LEAST_MAXIMUM
    factor = np.float32(127) / np.where(used, largest, np.float32(1))  # with 1, what is below 2^-40 rounds to 0
    q = np.rint(x * factor[..., None])
    return QuantizedRows(q.astype(np.int8), np.where(used, largest * INVERSE_127, np.float32(0)))


def layer_norm(
    x: F32Array, gamma: F32Array, beta: F32Array, epsilon: np.float32, inverse_width: np.float32
) -> F32Array:
    """d = x - mean; r = 1 / sqrt(mean of d * d + eps); (d * r) * gamma + beta."""
    mean = row_sum(x) * inverse_width
    centred = x - mean[..., None]
    variance = row_sum(centred * centred) * inverse_width
    factor = np.float32(1) / np.sqrt(variance + epsilon)
    return (centred * factor[..., None]) * gamma + beta


def rms_norm(x: F32Array, gamma: F32Array, epsilon: np.float32, inverse_width: np.float32) -> F32Array:
    """(x * (1 / sqrt(mean of x * x + eps))) * gamma."""
    factor = np.float32(1) / np.sqrt(row_sum(x * x) * inverse_width + epsilon)
    return (x * factor[..., None]) * gamma


def affine(x: F32Array, gamma: F32Array, beta: F32Array) -> F32Array:
    """x * gamma + beta, kept within -2^32 and 2^32: nothing divides a row by its size."""
    limit = np.float32(AFFINE_LIMIT)
    return np.clip(x * gamma + beta, -limit, limit)


def ordered_product(a: F32Array, b: F32Array) -> F32Array:
    """a [rows, k] times b [k, n]: each sum starts at +0 and adds a[r][k] * b[k][n] in the order of k."""
    (rows, inner), outputs = a.shape, b.shape[1]
    b = np.ascontiguousarray(b)
    sums = np.zeros((rows, outputs), np.float32)
    step = max(1, _BLOCK_VALUES // max(1, outputs))
    for first in range(0, rows, step):
        block = sums[first : first + step]
        columns = np.ascontiguousarray(a[first : first + step].T)[:, :, None]
        product = np.empty_like(block)
        for k in range(inner):
            np.multiply(columns[k], b[k], out=product)
            np.add(block, product, out=block)
    return sums


def integer_product(a: NDArray, b: NDArray) -> F32Array:
    """float(sum of a[r][k] * b[k][n]) for s8 values from -127 to 127, rounded once.

    The sum is exact in int32, so exact in float64, and where no partial sum can pass 2^24 in float32 too, in any order.
    """
    exact = np.float32 if a.shape[-1] * 127 * 127 <= 1 << 24 else np.float64
    return (a.astype(exact) @ b.astype(exact)).astype(np.float32)


def without_tiny(x: F32Array) -> F32Array:
    return np.where(np.abs(x) < LEAST_MAXIMUM, np.float32(0), x)
