# SPDX-License-Identifier: Apache-2.0
"""The discrete Fourier transform over the rows of a text (FNet, Lee-Thorp et al. 2021, arXiv:2105.03824)."""

from __future__ import annotations

from dataclasses import dataclass

from .op import attribute, packed, written


def waves_of(width: int) -> int:
    """How many values of a row a transform of `width` values has to begin with: the cosines and sines of waves 0 to
    width // 2, of which the others are made."""
    return 2 * (width // 2 + 1)


@dataclass(frozen=True)
class FourierRows:
    """The real part of the transform over rows and columns, of rows whose columns are transformed already: `input` has
    the sums over columns j of x[j] cos(2 pi j k / width), k from 0 to width // 2, and then those with sines. For row n
    of a text of T rows, with c and s the cosine and sine of 2 pi n m / T,

        out[n, k] = the sum over rows m of c * cosines[m, k] - s * sines[m, k], out[n, width - k] the same with +.
    """

    width: int = attribute()
    input: str = packed()
    out: str = written()
