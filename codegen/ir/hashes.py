# SPDX-License-Identifier: Apache-2.0
"""Hash functions of token ids, as CANINE has them (Clark et al. 2021, arXiv:2103.06874, section 3.1): function h of an
id is (id + 1) * prime h, modulo the number of buckets. The primes are those of `transformers` (modeling_canine.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PRIMES = (31, 43, 59, 61, 73, 97, 103, 113, 137, 149, 157, 173, 181, 193, 211, 223)


def rows_of_ids(ids: NDArray[np.int64], hashes: int, buckets: int) -> NDArray[np.int64]:
    """[ids, hashes]: rows of a table that has those of all functions one behind the other."""
    return ((ids[:, None] + 1) * np.array(PRIMES[:hashes])) % buckets + buckets * np.arange(hashes)
