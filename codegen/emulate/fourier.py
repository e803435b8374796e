# SPDX-License-Identifier: Apache-2.0
"""The Fourier transform over the rows of a text: its table of angles, and sums in order over the rows."""

from __future__ import annotations

import numpy as np

from .floats import F32Array
from .polynomials import horner

HALF_PI = np.float32(float.fromhex("0x1.921fb6p0"))
# Taylor's coefficients of sin(a) / a and cos(a) in a * a.
SINE = tuple(np.float32(1 / of) for of in (1, -6, 120, -5040, 362880))
COSINE = tuple(np.float32(1 / of) for of in (1, -2, 24, -720, 40320))


def turns(count: int) -> tuple[F32Array, F32Array]:
    """Cosines and sines [count] of 2 pi i / count: angles up to an eighth of a turn are computed, the others have the
    values of these in another order, or with another sign."""
    quarter, rest = np.divmod(4 * np.arange(count), count)
    beyond = 2 * rest > count  # an eighth
    rest = np.where(beyond, count - rest, rest)
    angle = rest.astype(np.float32) / np.float32(count) * HALF_PI
    sine, cosine = angle * horner(SINE, angle * angle), horner(COSINE, angle * angle)
    sine, cosine = np.where(beyond, cosine, sine), np.where(beyond, sine, cosine)
    return (
        np.choose(quarter, (cosine, -sine, -cosine, sine)).astype(np.float32),
        np.choose(quarter, (sine, cosine, -sine, -cosine)).astype(np.float32),
    )


def fourier_rows(x: F32Array, width: int, *, first: bool) -> F32Array:
    """x [rows, waves_of(width)] of a text -> [rows, width], or the `first` row of it alone."""
    cosines, sines = turns(len(x))
    numbers = np.arange(1 if first else len(x))
    half = x.shape[1] // 2
    even, odd = (np.zeros((len(numbers), half), np.float32) for _ in range(2))
    for row in range(len(x)):
        place = numbers * row % len(x)
        even = even + cosines[place, None] * x[row, :half]
        odd = odd + sines[place, None] * x[row, half:]
    mirrored = (even + odd)[:, 1 : width - half + 1][:, ::-1]
    return np.concatenate([even - odd, mirrored], axis=1)
