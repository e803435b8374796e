# SPDX-License-Identifier: Apache-2.0
"""What a text weighs the entries of a vocabulary, most of them 0: SPLADE, a SparseEncoder of sentence-transformers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.graph import WordWeights
from ..ir.task import Computation, Face
from ..ir.text import Text
from .similarity import Similarity


@dataclass(frozen=True)
class SparseEmbedding(Similarity):
    """A weight for each entry of the vocabulary. In a table, two texts and how alike they are."""

    task_names = ("sparse_embedding",)
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
    many_outputs = True
    beside_others = False

    @property
    def result_bytes(self) -> int:
        """The result has views only."""
        return 64

    @property
    def summary(self) -> str:
        return f"Text to a sparse embedding: weights of {self.width} entries of a vocabulary, most of them 0"

    def described(self, computed: Computation) -> str:
        op = next(node for node in computed.body if isinstance(node, WordWeights))
        logarithm = "log(1 + log(1 + relu))" if op.twice else "log(1 + relu)"
        return f"sparse embedding, weights of {self.width} entries of the vocabulary: {op.pooling} of {logarithm}"

    def outputs_of(self, answer: Mapping[str, Any]) -> NDArray:
        """The program prints what is above 0."""
        dense = np.zeros(self.width, np.float32)
        for entry in answer["weights"]:
            dense[entry["id"]] = entry["weight"]
        return dense

    def answers(self, outputs: NDArray, rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """Dot products: [rows, 1]."""
        products = [float((a.astype(np.float64) * b).sum()) for a, b in zip(outputs[::2], outputs[1::2], strict=True)]
        return np.array(products)[:, None]


TASK = SparseEmbedding
