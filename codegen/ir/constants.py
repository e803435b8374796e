# SPDX-License-Identifier: Apache-2.0
"""Constants of the arithmetic (runtime/ARITHMETIC.md): computed in float64, rounded once; tiny ones are 0."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

_DIGITS = 30  # of what float64 is rounded from
TINY = 2.0**-40  # below this a constant, a scale or a row maximum counts as 0: subnormals then never decide a bit


def rounded(value: float) -> np.float32:
    """A float64 constant as the float32 that the generated code holds."""
    return np.float32(value)


def without_tiny(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """`values` with everything below 2^-40 in magnitude as +0."""
    return np.where(np.abs(values) < np.float32(TINY), np.float32(0), values)


def powers(count: int, exponent: float) -> NDArray[np.float32]:
    """n ^ exponent for n from 1 on."""
    with localcontext() as context:
        context.prec = _DIGITS
        return np.array([float(Decimal(n) ** Decimal(exponent)) for n in range(1, count + 1)]).astype(np.float32)


def reciprocal(n: int) -> np.float32:
    """1 / n."""
    return rounded(1.0 / n)
