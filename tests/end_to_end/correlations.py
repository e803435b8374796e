# SPDX-License-Identifier: Apache-2.0
"""Pearson's and Spearman's correlation, a second form beside the program's."""

from __future__ import annotations

import numpy as np


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    """As NumPy has it."""
    return float(np.corrcoef(a, b)[0, 1])


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's of the ranks; equal values share the mean of theirs."""
    return pearson(_ranks(a), _ranks(b))


def _ranks(values: np.ndarray) -> np.ndarray:
    less = (values[:, None] > values[None, :]).sum(1)
    equal = (values[:, None] == values[None, :]).sum(1)
    return less + (equal - 1) / 2
