# SPDX-License-Identifier: Apache-2.0
"""Weight matrices in the target's layout, as runtime/include/etch/packing.hpp defines it. Padding is zero."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..ir.program import GROUP
from ..targets import ENCODED_PADDING, PANEL_INPUTS, PANEL_WIDTH, Packing, round_up

Scalar = TypeVar("Scalar", np.int8, np.uint8, np.float32)


def pack_s8(q: NDArray[np.int8], packing: Packing) -> NDArray[np.int8]:
    """[n][k] -> flat: panel [n/16][k/4][16][4], rows [n][k padded to 16]."""
    n, k = q.shape
    if packing == "rows":
        return _padded(q, n, round_up(k, ENCODED_PADDING)).reshape(-1)
    rows, columns = round_up(n, PANEL_WIDTH), round_up(k, PANEL_INPUTS)
    panels = _padded(q, rows, columns).reshape(rows // PANEL_WIDTH, PANEL_WIDTH, columns // PANEL_INPUTS, PANEL_INPUTS)
    return np.ascontiguousarray(panels.transpose(0, 2, 1, 3)).reshape(-1)


def unpack_s8(packed: NDArray[np.int8], n: int, k: int, packing: Packing) -> NDArray[np.int8]:
    """The inverse of pack_s8."""
    if packing == "rows":
        return packed.reshape(n, round_up(k, ENCODED_PADDING))[:, :k]
    columns = round_up(k, PANEL_INPUTS)
    panels = packed.reshape(-1, columns // PANEL_INPUTS, PANEL_WIDTH, PANEL_INPUTS).transpose(0, 2, 1, 3)
    return panels.reshape(-1, columns)[:n, :k]


def pack_s4(q: NDArray[np.int8], packing: Packing) -> NDArray[np.int8]:
    """[n][k] in [-8, 7] -> flat, two to a byte: panel [n/16][k/8][16][4], low nibble k, high nibble k + 4; rows
    [n][k/32][16], low nibble k, high nibble k + 16."""
    n, k = q.shape
    rows, columns, half = _s4_shape(n, k, packing)
    pairs = _padded(q, rows, columns).reshape(rows, columns // (2 * half), 2, half)
    packed = (pairs[:, :, 0] & 15) | (pairs[:, :, 1] << 4)
    if packing == "rows":
        return packed.reshape(-1)
    panels = packed.reshape(rows // PANEL_WIDTH, PANEL_WIDTH, columns // (2 * half), half)
    return np.ascontiguousarray(panels.transpose(0, 2, 1, 3)).reshape(-1)


def unpack_s4(packed: NDArray[np.int8], n: int, k: int, packing: Packing) -> NDArray[np.int8]:
    """The inverse of pack_s4."""
    rows, columns, half = _s4_shape(n, k, packing)
    if packing == "rows":
        pairs = packed.reshape(rows, -1, half)
    else:
        panels = packed.reshape(rows // PANEL_WIDTH, -1, PANEL_WIDTH, half)
        pairs = panels.transpose(0, 2, 1, 3).reshape(rows, -1, half)
    return np.stack([(pairs << 4) >> 4, pairs >> 4], axis=2).reshape(rows, columns)[:n, :k]


def _s4_shape(n: int, k: int, packing: Packing) -> tuple[int, int, int]:
    """Outputs and inputs with padding, and how far apart the inputs of a byte are."""
    if packing == "rows":
        return n, round_up(k, GROUP), ENCODED_PADDING
    return round_up(n, PANEL_WIDTH), round_up(k, 2 * PANEL_INPUTS), PANEL_INPUTS


def pack_factors(factors: NDArray[np.uint8], packing: Packing) -> NDArray[np.uint8]:
    """[n][groups] -> flat: panel [n/16][groups][16], rows as they are."""
    if packing == "rows":
        return factors.reshape(-1)
    n, groups = factors.shape
    rows = round_up(n, PANEL_WIDTH)
    panels = _padded(factors, rows, groups).reshape(rows // PANEL_WIDTH, PANEL_WIDTH, groups)
    return np.ascontiguousarray(panels.transpose(0, 2, 1)).reshape(-1)


def unpack_factors(packed: NDArray[np.uint8], n: int, packing: Packing) -> NDArray[np.uint8]:
    """The inverse of pack_factors."""
    if packing == "rows":
        return packed.reshape(n, -1)
    groups = packed.size // round_up(n, PANEL_WIDTH)
    return packed.reshape(-1, groups, PANEL_WIDTH).transpose(0, 2, 1).reshape(-1, groups)[:n]


def pack_f32(values: NDArray[np.float32], packing: Packing) -> NDArray[np.float32]:
    """[n][k] -> flat: panel [n/16][k][16], rows [n][k]."""
    n, k = values.shape
    if packing == "rows":
        return np.ascontiguousarray(values).reshape(-1)
    rows = round_up(n, PANEL_WIDTH)
    panels = _padded(values, rows, k).reshape(rows // PANEL_WIDTH, PANEL_WIDTH, k)
    return np.ascontiguousarray(panels.transpose(0, 2, 1)).reshape(-1)


def unpack_f32(packed: NDArray[np.float32], n: int, k: int, packing: Packing) -> NDArray[np.float32]:
    """The inverse of pack_f32."""
    if packing == "rows":
        return packed.reshape(n, k)
    return packed.reshape(-1, k, PANEL_WIDTH).transpose(0, 2, 1).reshape(-1, k)[:n]


def _padded(values: NDArray[Scalar], rows: int, columns: int) -> NDArray[Scalar]:
    if values.shape == (rows, columns):
        return values
    padded = np.zeros((rows, columns), values.dtype)
    padded[: values.shape[0], : values.shape[1]] = values
    return padded
