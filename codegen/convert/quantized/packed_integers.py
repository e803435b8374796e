# SPDX-License-Identifier: Apache-2.0
"""Integers of few bits that lie side by side in words of 32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def unpacked(words: NDArray[Any], bits: int, count: int) -> NDArray[np.uint8]:
    """[rows, words] of int32 -> [rows, count] without signs: value i of a row begins at bit i * `bits` of the row, its
    lowest bit first, and may go on in the next word. A row has at least as many bits as that asks for."""
    stream = np.unpackbits(np.ascontiguousarray(words, "<i4").view(np.uint8), axis=1, bitorder="little")
    of_values = stream[:, : count * bits].reshape(len(words), count, bits)
    return np.packbits(of_values, axis=2, bitorder="little")[:, :, 0]


def words_of(count: int, bits: int) -> int:
    """How many words of 32 bits `count` values take."""
    return -(-count * bits // 32)
