# SPDX-License-Identifier: Apache-2.0
"""Spearman's rank correlation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ir.task import Measure

SPEARMAN = Measure("Spearman correlation")


def mean_spearman(answers: NDArray[np.float64], truths: NDArray[np.float64]) -> float:
    """Of [rows, values]: the mean over the columns."""
    return float(np.mean([spearman(a, b) for a, b in zip(answers.T, truths.T, strict=True)]))


def spearman(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """0 where one of them does not vary."""
    ranks_a, ranks_b = (_ranks(values) - (len(values) - 1) / 2 for values in (a, b))
    both = float(np.sqrt((ranks_a**2).sum() * (ranks_b**2).sum()))
    return float((ranks_a * ranks_b).sum()) / both if both > 0 else 0.0


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equal values share the mean of their ranks."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(sizes)
    return ((2 * ends - sizes - 1) / 2)[group]
