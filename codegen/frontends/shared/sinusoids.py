# SPDX-License-Identifier: Apache-2.0
"""Position tables that a model computes instead of learning them.

Sines are made of additions and multiplications alone: what a library's sine rounds to differs between machines, and a
generated table may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from ...ir.graph import Parameter
from .computed import Computed

F64Array = NDArray[np.float64]

_BASE = 10_000
# pi/2 in two parts; products of the first with numbers below 2^20 are exact.
_HALF_PI = (1.57079632673412561417, 6.07710050650619224932e-11)
# Taylor's coefficients of sin(r)/r and cos(r) in r^2: good to 1e-16 up to pi/4.
_SINE = (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000)
_COSINE = (1.0, -1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200, 1 / 20922789888000)


def interleaved_sinusoids(name: str, count: int, width: int) -> Parameter:
    """[count, width]: sin(i / 10000^(2k / width)) in column 2k, the cosine of the same angle in column 2k + 1."""
    sine, cosine = _waves(range(count), (width + 1) // 2, (2, width))
    return _table(name, np.stack([sine, cosine], axis=-1).reshape(count, -1)[:, :width])


def halved_sinusoids(name: str, count: int, width: int) -> Parameter:
    """The same with all sines first, then all cosines; of an odd width there is one sine more."""
    return _table(name, halved_waves(range(count), width))


def halved_waves(positions: Sequence[int], width: int) -> F64Array:
    """Rows of those of any positions, negative ones too, before they are rounded."""
    sine, cosine = _waves(positions, (width + 1) // 2, (2, width))
    return np.concatenate([sine, cosine[:, : width // 2]], axis=1)


def closed_sinusoids(name: str, positions: range, width: int) -> Parameter:
    """As tensor2tensor has them: sines, then cosines, of i / 10000^(k / (width // 2 - 1)), so that the last rate is
    1/10000; of an odd width the last column is zero. A width is 4 at least."""
    half = width // 2
    sine, cosine = _waves(positions, half, (1, half - 1))
    return _table(name, np.concatenate([sine, cosine, np.zeros((len(positions), width % 2))], axis=1))


def _waves(positions: Sequence[int], count: int, step: tuple[int, int]) -> tuple[F64Array, F64Array]:
    """Of `count` rates; `step` is the fraction by which the exponent falls from one to the next."""
    with localcontext() as context:
        context.prec = 30
        rates = [float(_BASE ** (Decimal(-step[0] * k) / step[1])) for k in range(count)]
    return sine_and_cosine(np.array(positions)[:, None] * np.array(rates))


def _table(name: str, table: F64Array) -> Parameter:
    return Parameter(name, (Computed(name, table.shape, lambda: table.astype(np.float32)),))


def sine_and_cosine(angle: F64Array) -> tuple[F64Array, F64Array]:
    """Of angles up to 2^20, of either sign, to about 2e-16."""
    quarters = np.rint(angle * (1 / _HALF_PI[0]))
    rest = (angle - quarters * _HALF_PI[0]) - quarters * _HALF_PI[1]
    sine, cosine = rest * _horner(_SINE, rest * rest), _horner(_COSINE, rest * rest)
    quarter = quarters.astype(np.int64) % 4
    return np.choose(quarter, (sine, cosine, -sine, -cosine)), np.choose(quarter, (cosine, -sine, -cosine, sine))


def _horner(coefficients: tuple[float, ...], x: F64Array) -> F64Array:
    result = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result = result * x + coefficient
    return result
