# SPDX-License-Identifier: Apache-2.0
"""A vector for a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.graph import Normalize, Pool
from ..ir.task import Computation, Face
from ..ir.text import Text
from .similarity import Similarity


@dataclass(frozen=True)
class Embedding(Similarity):
    """One vector for the text. In a table, two texts and how alike they are."""

    task_names = ("embedding",)
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

    @property
    def result_bytes(self) -> int:
        return 4 * self.outputs

    @property
    def summary(self) -> str:
        return f"Text to an embedding of {self.width} values"

    def described(self, computed: Computation) -> str:
        pool = next(node for node in computed.body if isinstance(node, Pool))
        pooling = " and ".join((pool.kind, *pool.beside))
        normalized = any(isinstance(node, Normalize) for node in computed.body)
        return f"embedding of {self.width} values, pooling {pooling}, {'' if normalized else 'not '}normalized"

    def answers(self, outputs: NDArray, rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """Cosines: [rows, 1]."""
        first, second = outputs[::2].astype(np.float64), outputs[1::2].astype(np.float64)
        lengths = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
        return ((first * second).sum(axis=1) / np.where(lengths > 0, lengths, 1))[:, None]


TASK = Embedding
