# SPDX-License-Identifier: Apache-2.0
"""4-bit quantization: w = scale * factor * q with q in [-8, 7], one float scale per row and one integer factor per
group of 32 neighbours in a row, |factor * q| <= 127.

Scale and factors are searched for the least squared error: each of a few scales with the factors around the one that
takes a group's largest weight to 7. Sums of squares go over a fixed tree of additions, so that every machine finds the
same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ir.constants import TINY
from ..ir.parameter import F32Array
from ..ir.program import GROUP, S4Matrix

F64Array = NDArray[np.float64]

LEAST, MOST = -8, 7
MOST_FACTOR = 127 // MOST
# What the scale takes the largest weight of a row to: with the largest factor to just 7, a little less, a little more.
_LARGEST = (110.0, 126.0, 142.0)
# Factors are tried from this part of the one that takes the largest weight of a group to 7, and so many of them.
_FIRST_FACTOR = 0.7
_FACTORS = 8
_VALUES_AT_ONCE = 1 << 16  # keeps the float64 copies in the cache


def quantize_groups(values: F32Array) -> S4Matrix:
    """`values` is [rows, width], finite. Where a row's scale would be below 2^-40 it is 0, and so are its q."""
    rows, width = values.shape
    q = np.zeros(values.shape, np.int8)
    factors = np.ones((rows, -(-width // GROUP)), np.uint8)
    scales = np.zeros(rows, np.float32)
    step = max(1, _VALUES_AT_ONCE // width)
    for begin in range(0, rows, step):
        part = slice(begin, begin + step)
        groups = in_groups(values[part].astype(np.float64))
        scales[part], factors[part] = search(groups)
        used = scales[part] > 0
        scale = np.where(used, scales[part], np.float32(1)).astype(np.float64)[:, None] * factors[part]
        rounded = np.where(used[:, None, None], round_groups(groups, scale, factors[part].astype(np.float64)), 0.0)
        q[part] = rounded.reshape(len(groups), -1)[:, :width].astype(np.int8)
    return S4Matrix(q, factors, scales)


def in_groups(rows: F64Array) -> F64Array:
    """[rows, width] -> [rows, groups, 32], with zeros behind the last."""
    groups = -(-rows.shape[1] // GROUP)
    padded = np.zeros((len(rows), groups * GROUP))
    padded[:, : rows.shape[1]] = rows
    return padded.reshape(len(rows), groups, GROUP)


def search(groups: F64Array, importance: F64Array | None = None) -> tuple[F32Array, NDArray[np.uint8]]:
    """Scales [rows] and factors [rows, groups] of the least squared error, each weight's times its importance [groups,
    32]."""
    largest = np.abs(groups).max(axis=(1, 2))
    best_error: F64Array = np.full(len(groups), np.inf)
    best_scale: F32Array = np.zeros(len(groups), np.float32)
    best_factors = np.ones(groups.shape[:2], np.uint8)
    for reach in _LARGEST:
        scale = (largest / reach).astype(np.float32)
        used = scale >= np.float32(TINY)
        error, factors = search_factors(groups, np.where(used, scale, np.float32(1)), importance)
        total = tree_sum(_padded_to_power(error))
        better = used & (total < best_error)
        best_error = np.where(better, total, best_error)
        best_scale = np.where(better, scale, best_scale)
        best_factors = np.where(better[:, None], factors, best_factors)
    return best_scale, best_factors


def search_factors(
    groups: F64Array, scales: F32Array, importance: F64Array | None = None
) -> tuple[F64Array, NDArray[np.uint8]]:
    """Of each group the least squared error and the factor that gives it, for scales > 0 [rows]."""
    scale = scales.astype(np.float64)[:, None]
    wanted = np.abs(groups).max(axis=2) / (MOST * scale)
    first = np.clip(np.floor(wanted * _FIRST_FACTOR), 1.0, float(MOST_FACTOR))
    best_error = np.full(groups.shape[:2], np.inf)
    best = np.ones(groups.shape[:2], np.uint8)
    for step in range(_FACTORS):
        factor = np.minimum(first + step, float(MOST_FACTOR))
        by = factor * scale
        difference = groups - round_groups(groups, by, factor) * by[:, :, None]
        square = difference * difference
        error = tree_sum(square if importance is None else square * importance)
        better = error < best_error
        best_error = np.where(better, error, best_error)
        best = np.where(better, factor.astype(np.uint8), best)
    return best_error, best


def round_groups(groups: F64Array, by: F64Array, factor: F64Array) -> F64Array:
    """rne(w / by) within what 4 bits, and the products with the factors [rows, groups] in 8 bits, can be."""
    least = np.maximum(float(LEAST), -np.floor(127.0 / factor))
    return np.clip(np.rint(groups / by[:, :, None]), least[:, :, None], float(MOST))


def tree_sum(x: F64Array) -> F64Array:
    """Sum along the last axis, a power of two long, in an order that does not depend on the machine."""
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        x = x[..., :half] + x[..., half:]
    return x[..., 0]


def _padded_to_power(x: F64Array) -> F64Array:
    length = 1 << (x.shape[-1] - 1).bit_length()
    padded = np.zeros((*x.shape[:-1], length))
    padded[..., : x.shape[-1]] = x
    return padded
