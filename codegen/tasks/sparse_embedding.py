# SPDX-License-Identifier: Apache-2.0
"""What a text weighs the entries of a vocabulary, most of them 0: SPLADE, a SparseEncoder of sentence-transformers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.graph import Graph, WordWeights
from ..ir.task import Face, Measure, Task
from ..ir.text import Text
from .columns import check_two_texts, numbers
from .correlation import mean_spearman


@dataclass(frozen=True)
class SparseEmbedding(Task):
    """A weight for each entry of the vocabulary. In a table, two texts and how alike they are."""

    width: int

    verb = "embed_sparse"
    face = Face(
        "sparse_embedding",
        outputs="weights",
        reported="weights",
        field="dense",
        key="weights",
        count="kWeightsWidth",
    )
    names_pieces = True
    relative = True
    many_outputs = True
    beside_others = False
    texts_of_row = 2

    @classmethod
    def task_names(cls) -> tuple[str, ...]:
        return ("sparse_embedding",)

    @property
    def name(self) -> str:
        return "sparse_embedding"

    @property
    def outputs(self) -> int:
        return self.width

    @property
    def result_bytes(self) -> int:
        """The result has views only."""
        return 64

    @property
    def summary(self) -> str:
        return f"Text to a sparse embedding: weights of {self.width} entries of a vocabulary, most of them 0"

    def described(self, graph: Graph) -> str:
        op = next(node for node in graph.body if isinstance(node, WordWeights))
        logarithm = "log(1 + log(1 + relu))" if op.twice else "log(1 + relu)"
        return f"sparse embedding, weights of {self.width} entries of the vocabulary: {op.pooling} of {logarithm}"

    def outputs_of(self, answer: Mapping[str, Any]) -> NDArray:
        """The program prints what is above 0."""
        dense = np.zeros(self.width, np.float32)
        for entry in answer["weights"]:
            dense[entry["id"]] = entry["weight"]
        return dense

    @property
    def measure(self) -> Measure:
        return Measure("Spearman correlation")

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        check_two_texts(table)
        return np.array([numbers(path, row, 1) for row in chosen])

    def answers(self, outputs: NDArray, rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """Dot products: [rows, 1]."""
        products = [float((a.astype(np.float64) * b).sum()) for a, b in zip(outputs[::2], outputs[1::2], strict=True)]
        return np.array(products)[:, None]

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return mean_spearman(answers, truths)


TASK = SparseEmbedding
