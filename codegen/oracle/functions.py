# SPDX-License-Identifier: Apache-2.0
"""Activation functions in float64, by the names that a graph has for them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

F64Array = NDArray[np.float64]

_ERF_STEP = 1 / 32
_ERF_LIMIT = 6.0  # erf is 1 in float64 from 5.93 on
_ERF_ORDER = 8  # the next term of the series is below 1e-18


def _erf_series() -> F64Array:
    """Taylor coefficients [order + 1, points] of erf around 0, 1/32, 2/32, ...: Hermite polynomials times exp(-a^2)."""
    a = np.arange(0, _ERF_LIMIT + _ERF_STEP, _ERF_STEP)
    rows = [np.array([math.erf(point) for point in a])]
    hermite, previous = np.ones_like(a), np.zeros_like(a)
    derivative = 2 / math.sqrt(math.pi) * np.exp(-a * a)
    for k in range(1, _ERF_ORDER + 1):
        rows.append((-1) ** (k - 1) * hermite * derivative / math.factorial(k))
        hermite, previous = 2 * a * hermite - 2 * (k - 1) * previous, hermite
    return np.stack(rows)


_ERF_SERIES = _erf_series()


def erf(x: F64Array) -> F64Array:
    """To double precision: NumPy has none, and math.erf takes one value at a time."""
    z = np.minimum(np.abs(x), _ERF_LIMIT)
    point = np.rint(z / _ERF_STEP).astype(np.int64)
    h = z - point * _ERF_STEP
    result = _ERF_SERIES[-1][point]
    for row in _ERF_SERIES[-2::-1]:
        result = result * h + row[point]
    return np.copysign(result, x)


def gelu(x: F64Array) -> F64Array:
    """By erf."""
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x: F64Array) -> F64Array:
    """By tanh, as its paper has it."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def sigmoid(x: F64Array) -> F64Array:
    """1 / (1 + e^-x)."""
    return 0.5 * (1 + np.tanh(0.5 * x))


def silu(x: F64Array) -> F64Array:
    """x * sigmoid(x)."""
    return x * sigmoid(x)


def quick_gelu(x: F64Array) -> F64Array:
    """x * sigmoid(1.702 x)."""
    return x * sigmoid(1.702 * x)


FUNCTIONS: dict[str, Callable[[F64Array], F64Array]] = {
    "none": lambda x: x,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "quick_gelu": quick_gelu,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": sigmoid,
    "silu": silu,
    "tanh": np.tanh,
}
