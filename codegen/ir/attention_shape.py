# SPDX-License-Identifier: Apache-2.0
"""Numbers that an attention of a program has beside its operands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class HeadShape:
    """Of an attention: `heads` heads of queries on `key_heads` heads of keys and values, each `width` wide."""

    heads: int
    key_heads: int
    width: int


@dataclass(frozen=True)
class SoftCap:
    """x becomes tanh(x * inverse) * limit."""

    limit: np.float32
    inverse: np.float32
