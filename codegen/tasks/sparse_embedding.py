# SPDX-License-Identifier: Apache-2.0
"""What a text weighs the entries of a vocabulary, most of them 0: SPLADE, a SparseEncoder of sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.graph import WordWeights
from ..ir.query_weights import QueryWeights
from ..ir.task import Computation, Face
from ..ir.text import Text
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.wheel_tokenizer import text_tokenizer
from .similarity import Similarity


@dataclass(frozen=True)
class SparseEmbedding(Similarity):
    """A weight for each entry of the vocabulary. In a table, two texts and how alike they are; of a model that weighs
    queries by a table of its own, a query and a document."""

    query: QueryWeights | None = None

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
        weights = f"weights of {self.width} entries of the vocabulary: {op.pooling} of {logarithm}"
        return f"sparse embedding, {weights}{'' if self.query is None else '; of queries by a table of tokens'}"

    @property
    def tables(self) -> Mapping[str, NDArray]:
        return {} if self.query is None else {"weights_of_queries": self.query.array()}

    def template_values(self, literal: Callable[[str], str]) -> dict[str, Any]:
        """Of queries that have a table."""
        return {"query": self.query}

    def outputs_of(self, answer: Mapping[str, Any]) -> NDArray:
        """The program prints what is above 0."""
        dense = np.zeros(self.width, np.float32)
        for entry in answer["weights"]:
            dense[entry["id"]] = entry["weight"]
        return dense

    def encoded(self, spec: TokenizerSpec, max_tokens: int, rows: Sequence[Row]) -> list[Text] | None:
        """Of each row the query, then the document, where these are read otherwise."""
        if self.query is None:
            return None
        longest = self.query.longest(max_tokens), max_tokens
        of_sides = [text_tokenizer(spec, tokens) for tokens in longest]
        read = [tokenizer.encode(text).ids for row in rows for tokenizer, text in zip(of_sides, row.texts, strict=True)]
        return [Text(tuple(ids), [0] * len(ids)) for ids in read]

    def answers(self, outputs: NDArray, rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """Dot products: [rows, 1]."""
        first = outputs[::2] if self.query is None else [self.query.row(text.ids) for text in texts[::2]]
        products = [float((a.astype(np.float64) * b).sum()) for a, b in zip(first, outputs[1::2], strict=True)]
        return np.array(products)[:, None]


TASK = SparseEmbedding
