# SPDX-License-Identifier: Apache-2.0
"""The Fourier transform over the rows of a text in float64, by a library's own."""

from __future__ import annotations

import numpy as np

from ..ir import graph as g
from .state import INTERPRET, State


@INTERPRET.on(g.FourierRows)
def _fourier_rows(op: g.FourierRows, at: State) -> None:
    cosines, sines = np.split(at.values[op.input], 2, axis=1)
    even, odd = np.fft.fft(cosines, axis=0).real, -np.fft.fft(sines, axis=0).imag
    mirrored = (even + odd)[:, 1 : op.width - even.shape[1] + 1]
    at.values[op.out] = np.concatenate([even - odd, mirrored[:, ::-1]], axis=1)
