# SPDX-License-Identifier: Apache-2.0
"""A vector for a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.graph import Graph, Normalize, Pool
from ..ir.task import Face, Measure, Task
from ..ir.text import Text
from .columns import check_two_texts, numbers
from .correlation import mean_spearman


@dataclass(frozen=True)
class Embedding(Task):
    """One vector for the text. In a table, two texts and how alike they are."""

    width: int

    verb = "embed"
    face = Face(
        "embedding",
        outputs="embedding",
        reported="embeddings",
        field="embedding",
        key="embedding",
        count="kEmbeddingWidth",
    )
    on_gpus = True
    relative = True
    texts_of_row = 2

    @classmethod
    def task_names(cls) -> tuple[str, ...]:
        return ("embedding",)

    @property
    def name(self) -> str:
        return "embedding"

    @property
    def outputs(self) -> int:
        return self.width

    @property
    def result_bytes(self) -> int:
        return 4 * self.outputs

    @property
    def summary(self) -> str:
        return f"Text to an embedding of {self.width} values"

    def described(self, graph: Graph) -> str:
        pool = next(node for node in graph.body if isinstance(node, Pool))
        pooling = " and ".join((pool.kind, *pool.beside))
        normalized = any(isinstance(node, Normalize) for node in graph.body)
        return f"embedding of {self.width} values, pooling {pooling}, {'' if normalized else 'not '}normalized"

    @property
    def measure(self) -> Measure:
        return Measure("Spearman correlation")

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        check_two_texts(table)
        return np.array([numbers(path, row, 1) for row in chosen])

    def answers(self, outputs: NDArray, rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """Cosines: [rows, 1]."""
        first, second = outputs[::2].astype(np.float64), outputs[1::2].astype(np.float64)
        lengths = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
        return ((first * second).sum(axis=1) / np.where(lengths > 0, lengths, 1))[:, None]

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return mean_spearman(answers, truths)


TASK = Embedding
