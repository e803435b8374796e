# SPDX-License-Identifier: Apache-2.0
"""Constants of the arithmetic contract: computed in float64, rounded once to float32; tiny ones are written as 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TINY = 2.0**-40  # below this a constant, a scale or a row maximum counts as 0: subnormals then never decide a bit


def rounded(value: float) -> np.float32:
    """A float64 constant as the float32 that the generated code holds."""
    return np.float32(value)


def without_tiny(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """`values` with everything below 2^-40 in magnitude as +0."""
    return np.where(np.abs(values) < np.float32(TINY), np.float32(0), values)


def reciprocal(n: int) -> np.float32:
    """1 / n."""
    return rounded(1.0 / n)
