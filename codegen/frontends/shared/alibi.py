# SPDX-License-Identifier: Apache-2.0
"""ALiBi: scores fall with the distance of a key, in each head at a pace of its own (Press et al., 2021,
arXiv:2108.12409)."""

from __future__ import annotations

import numpy as np

from ...ir.graph import Parameter
from .computed import Computed


def alibi(heads: int, tokens: int, *, both_sides: bool = False) -> Parameter:
    """[heads, distances], the same in all layers, of texts of at most `tokens`. Keys behind the query, where it sees
    any, lose with `both_sides` as much as those before it, and else win."""
    slopes, distances = np.array(slopes_of(heads)), np.arange(1 - tokens, tokens)

    def by_distance() -> np.ndarray:
        if both_sides:  # in float32, as published code computes it
            return slopes.astype(np.float32)[:, None] * -np.abs(distances).astype(np.float32)
        return slopes[:, None] * distances

    shape = (heads, len(distances))
    return Parameter("position_bias", (Computed("position_bias", shape, by_distance),), common=True)


def slopes_of(heads: int) -> list[float]:
    """Of each head. So many as a power of two begin at 2^(-8 / heads) and fall by this factor; of others the largest
    such power comes first, then every other slope of twice as many."""
    power = 1 << (heads.bit_length() - 1)
    first = [2.0 ** (-8 * i / power) for i in range(1, power + 1)]
    return first + [2.0 ** (-4 * i / power) for i in range(1, 2 * (heads - power), 2)]
