# SPDX-License-Identifier: Apache-2.0
"""Tokens that are drawn, as etch/decode/sampling.hpp says it: sorted where the runtime counts, Python's integers where
it has words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ir.search import Sampling
from .floats import F32Array, row_maximum
from .polynomials import LN2, LOG2E, exp2, log2

_UNIT = 1 << 40
_WORD = (1 << 32) - 1


def weights(logits: F32Array, sampling: Sampling) -> NDArray[np.uint64]:
    """[vocabulary]: of what may be drawn, 0 of the others."""
    t = logits * (LOG2E / np.float32(sampling.temperature))
    powers = exp2(t - row_maximum(t))
    whole = np.floor(powers.astype(np.float64) * _UNIT).astype(np.uint64)
    left = np.ones(len(whole), bool)
    if 0 < sampling.top_k < len(whole):
        left &= powers >= np.sort(powers)[-sampling.top_k]
    if sampling.top_p < 1:
        limit = max(1, int(np.sum(whole[left])) * int(np.float64(np.float32(sampling.top_p)) * 2.0**64) >> 64)
        above = np.array([int(np.sum(whole[powers > power])) for power in powers])
        left &= above < limit
    return np.where(left, whole, np.uint64(0))


def draw(logits: F32Array, sampling: Sampling, written: int) -> tuple[int, np.float32]:
    """A token behind so many others, and the logarithm of what it was drawn with. Logits of at most -2^100 are of
    those that may not be written."""
    of = weights(logits, sampling)
    sums = np.cumsum(of)
    place = int(sums[-1]) * random_bits(sampling, written) >> 64
    token = int(np.searchsorted(sums, np.uint64(place), "right"))
    ratio = sums[-1:].astype(np.float32) / of[token].astype(np.float32)
    return token, -(log2(ratio)[0] * LN2)


def random_bits(sampling: Sampling, written: int) -> int:
    """64 of them: Philox4x32-10."""
    key, other_key = sampling.seed & _WORD, sampling.seed >> 32
    a, b, c, d = written, sampling.text, 0, 0
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = second >> 32 ^ b ^ key, second & _WORD, first >> 32 ^ d ^ other_key, first & _WORD
        key, other_key = key + 0x9E3779B9 & _WORD, other_key + 0xBB67AE85 & _WORD
    return b << 32 | a
