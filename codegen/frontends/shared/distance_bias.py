# SPDX-License-Identifier: Apache-2.0
"""A learned bias of scores by distance: T5's, which MPNet took over (Raffel et al., 2020, arXiv:1910.10683)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...ir.graph import Parameter
from ...ir.parameter import Array, F32Array
from .computed import Computed


def distance_bias(
    name: str, learned: Sequence[Array], tokens: int, buckets: int, farthest: int, *, both_sides: bool = True
) -> Parameter:
    """[heads, distances]: what `learned` [buckets or more, heads] has for the bucket that each distance of texts of at
    most `tokens` falls into; of one for each layer, or of one that all have."""
    entries = [bucket_of(distance, buckets, farthest, both_sides=both_sides) for distance in range(1 - tokens, tokens)]

    def by_distance(array: Array) -> Computed:
        def values() -> F32Array:
            return np.ascontiguousarray(array.values[entries].T)

        return Computed(array.name, (array.shape[1], len(entries)), values, array.file)

    return Parameter(name, tuple(map(by_distance, learned)), common=len(learned) == 1)


def bucket_of(distance: int, buckets: int, farthest: int, *, both_sides: bool) -> int:
    """Of key position - query position: T5Attention._relative_position_bucket of `transformers`.

    With `both_sides` half of the buckets are for keys behind the query; else these fall into the first one. Half of
    a side's buckets are for one distance each, the others for distances that grow by the same factor up to `farthest`.
    The logarithm is rounded to float32 as PyTorch's is.
    """
    first = 0
    if both_sides:
        buckets //= 2
        first = buckets if distance > 0 else 0
    far = abs(distance) if both_sides else max(-distance, 0)
    exact = buckets // 2
    if far < exact:
        return first + far
    log = np.float32(math.log(np.float32(far) / np.float32(exact)))
    place = log / np.float32(math.log(farthest / exact)) * np.float32(buckets - exact)
    return first + min(exact + int(place), buckets - 1)
