# SPDX-License-Identifier: Apache-2.0
"""Scales that stand for blocks of a weight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..refusal import refusal


def spread(of_blocks: NDArray[Any], shape: tuple[int, ...], block: tuple[int, int], tensor: str) -> NDArray[Any]:
    """What each block of `block` rows and columns has -> what each value of a weight of `shape` has, whose last two
    dimensions are its rows and columns; the last blocks may be smaller. `tensor` names it in messages; `wrong-shape`
    where a weight has no rows and columns, or they have other blocks."""
    if len(shape) < 2:
        raise refusal("wrong-shape", f"scales for blocks of a weight {list(shape)} without rows", tensor=tensor)
    *others, rows, columns = shape
    expected = (*others, -(-rows // block[0]), -(-columns // block[1]))
    if of_blocks.shape != expected:
        message = f"expected {list(expected)} for blocks of {block[0]} x {block[1]}, got {list(of_blocks.shape)}"
        raise refusal("wrong-shape", message, tensor=tensor)
    by_rows = np.repeat(of_blocks, min(block[0], rows), axis=-2)[..., :rows, :]
    return np.repeat(by_rows, min(block[1], columns), axis=-1)[..., :columns]
