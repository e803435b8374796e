# SPDX-License-Identifier: Apache-2.0
"""Labels of a text: one of several, or each of them by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.task import Computation, Face, Measure, Task, counted, margin
from ..ir.text import Text
from .columns import label_index, label_reader, parts_of
from .names import listed, printable_name

SINGLE_LABEL = "single_label"
MULTI_LABEL = "multi_label"


@dataclass(frozen=True)
class Classification(Task):
    """Softmax: exactly one label holds. Sigmoid: each label holds or not, by itself; also where there is one only."""

    labels: tuple[str, ...]
    activation: Literal["softmax", "sigmoid"]

    task_names: ClassVar[tuple[str, ...]] = (SINGLE_LABEL, MULTI_LABEL)
    verb = "classify"
    face = Face(
        "classification",
        outputs="logits",
        reported="logits",
        field="logits",
        key="logits",
        count="kLabelCount",
    )
    on_gpus = True
    has_labels = True
    says_label = True
    activates = True

    @property
    def one_label(self) -> bool:
        return self.activation == "softmax"

    @property
    def name(self) -> str:
        return self.task_names[0] if self.one_label else self.task_names[-1]

    @property
    def outputs(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        return self.labels

    @property
    def result_bytes(self) -> int:
        """Probabilities and logits."""
        return 8 * self.outputs

    @property
    def summary(self) -> str:
        return f"Text classification{' into' if self.one_label else ', each of'} {counted(self.outputs, 'label')}"

    def described(self, computed: Computation) -> str:
        kind = "single-label" if self.one_label else "multi-label"
        return f"{kind} classification ({self.activation}), {listed(self.labels, 'label')}"

    def change(self, outputs: NDArray, expected: NDArray) -> str | None:
        if self._holding(outputs) == self._holding(expected):
            return None
        if self.one_label:
            there, here = np.argsort(-expected, kind="stable")[:2].tolist(), [int(np.argmax(outputs))]
            ends = [f", {margin(values, *pair)}" for values, pair in ((expected, there), (outputs, (*here, there[0])))]
        else:  # a logit is its own margin
            there = here = sorted(self._holding(outputs) ^ self._holding(expected))
            ends = ["", ""]
        reference, ours = (
            ", ".join(self._named(i, values) for i in labels) + end
            for values, labels, end in zip((expected, outputs), (there, here), ends, strict=True)
        )
        return f"reference {reference}; here {ours}"

    def _holding(self, outputs: NDArray) -> set[int]:
        if self.one_label:
            return {int(np.argmax(outputs))}
        return {int(i) for i in np.flatnonzero(outputs >= 0)}  # probability 1/2 and more

    def _named(self, label: int, logits: NDArray) -> str:
        return f"{printable_name(self.labels[label])} {float(logits[label]):.6f}"

    @property
    def measure(self) -> Measure:
        return Measure("accuracy" if self.one_label else "exact match", percent=True)

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        """Label indices, or sets of labels as [rows, labels] of bool."""
        if self.one_label:
            find = label_reader(path, self.labels, [row.value for row in table], spec)
            return np.array([label_index(path, row, find, row.value) for row in chosen])
        truths = np.zeros((len(chosen), len(self.labels)), bool)
        if len(self.labels) == 1 and spec is None and all(row.value in ("0", "1") for row in table):
            truths[:, 0] = [row.value == "1" for row in chosen]
            return truths
        find = label_reader(path, self.labels, [part for row in table for part in parts_of(row.value)], spec)
        for truth, row in zip(truths, chosen, strict=True):
            truth[[label_index(path, row, find, part) for part in parts_of(row.value)]] = True
        return truths

    def answers(self, outputs: NDArray, rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        return outputs.argmax(axis=1) if self.one_label else outputs >= 0

    def score(self, answers: NDArray, truths: NDArray) -> float:
        right = answers == truths
        return 100 * float((right if self.one_label else right.all(axis=1)).mean())


TASK = Classification
