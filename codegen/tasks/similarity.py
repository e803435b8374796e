# SPDX-License-Identifier: Apache-2.0
"""What tasks have in common whose results of two texts say how alike these are, or how well one answers the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.task import Measure, Task
from .columns import check_two_texts, numbers
from .correlation import SPEARMAN, mean_spearman


@dataclass(frozen=True)
class Similarity(Task):
    """Outputs of a text that are not bounded. In a table, two texts and how alike they are; `answers` are [rows, 1]."""

    width: int  # floats of a vector

    relative = True
    texts_of_row = 2

    @property
    def outputs(self) -> int:
        return self.width

    @property
    def measure(self) -> Measure:
        return SPEARMAN

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        check_two_texts(table)
        return np.array([numbers(path, row, 1) for row in chosen])

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return mean_spearman(answers, truths)
