# SPDX-License-Identifier: Apache-2.0
"""Values of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.task import Computation, Face, Measure, Task, counted
from ..ir.text import Text
from .columns import numbers
from .correlation import SPEARMAN, mean_spearman
from .names import listed


@dataclass(frozen=True)
class Regression(Task):
    """The last linear's values as they are."""

    values: tuple[str, ...]  # their names

    task_names = ("regression",)
    verb = "regress"
    face = Face(
        "regression",
        outputs="values",
        reported="values",
        field="value",
        key="values",
        count="kValueCount",
    )
    on_gpus = True

    @property
    def outputs(self) -> int:
        return len(self.values)

    @property
    def names(self) -> tuple[str, ...]:
        return self.values

    @property
    def result_bytes(self) -> int:
        return 4 * self.outputs

    @property
    def summary(self) -> str:
        return f"Text to {counted(self.outputs, 'value')}"

    def described(self, computed: Computation) -> str:
        return f"regression (no activation), {listed(self.values, 'value')}"

    @property
    def measure(self) -> Measure:
        return SPEARMAN

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        return np.array([numbers(path, row, self.outputs) for row in chosen])

    def answers(self, outputs: NDArray, rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        return outputs.astype(np.float64)

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return mean_spearman(answers, truths)


TASK = Regression
