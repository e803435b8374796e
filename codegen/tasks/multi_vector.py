# SPDX-License-Identifier: Apache-2.0
"""A vector for each token of a text: late interaction, as ColBERT has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.graph import Normalize
from ..ir.side import Side
from ..ir.task import Computation, Face, counted
from ..ir.text import Text
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.wheel_tokenizer import text_tokenizer
from .similarity import Similarity

NO_DOCUMENT = -1e9  # the score with a document that has no vectors


@dataclass(frozen=True)
class MultiVector(Similarity):
    """A row for each token; not each of them is a vector of the text. In a table, a query and a document."""

    document: Side
    query: Side

    task_names = ("multi_vector",)
    verb = "embed_each"
    face = Face(
        "multi_vector",
        outputs="rows",
        reported="rows",
        field="rows",
        key="rows",
        count="kVectorWidth",
        options=("--rows", "--as-written"),
    )
    rows = "tokens"
    names_pieces = True
    token_bytes = {"kept": 1}  # noqa: RUF012 - a constant of the class
    takes_pairs = False
    beside_others = False

    @property
    def result_bytes(self) -> int:
        """The result has views only."""
        return 64

    @property
    def summary(self) -> str:
        return f"Each token of a text to a vector of {self.width} values"

    def described(self, computed: Computation) -> str:
        normalized = any(isinstance(node, Normalize) for node in computed.body)
        filled = ""
        if self.query.least_tokens:
            seen = "" if self.query.filler_is_seen else "not "
            filled = f", queries filled up to {self.query.least_tokens} tokens that are {seen}attended to"
        skipped = counted(len(self.document.skipped), "token")
        return (
            f"vectors of {self.width} values for each token, {'' if normalized else 'not '}normalized, "
            f"{skipped} left out of documents{filled}"
        )

    def template_values(self, literal: Callable[[str], str]) -> dict[str, Any]:
        """Of documents, then of queries."""
        sides = (("document", self.document), ("query", self.query))
        return {
            "sides": [
                {
                    "name": name,
                    "upper": name.upper(),
                    "constant": name.capitalize(),
                    "prompt": literal(side.prompt),
                    "max_tokens": side.max_tokens,
                    "least_tokens": side.least_tokens,
                    "filler": side.filler,
                    "filler_is_seen": "true" if side.filler_is_seen else "false",
                    "skipped": side.skipped,
                }
                for name, side in sides
            ]
        }

    def encoded(self, spec: TokenizerSpec, max_tokens: int, rows: Sequence[Row]) -> list[Text]:
        """Of each row the query, then the document, each behind its prompt."""
        sides = self.query, self.document
        of_sides = [text_tokenizer(spec, side.longest(max_tokens)) for side in sides]
        return [
            side.filled(tokenizer.encode(side.prompt + text).ids)
            for row in rows
            for side, tokenizer, text in zip(sides, of_sides, row.texts, strict=True)
        ]

    def answers(self, outputs: Sequence[NDArray], rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """MaxSim: [rows, 1]."""
        found = []
        for row in range(0, len(texts), 2):
            query, document = (
                outputs[row + i][side.kept(texts[row + i].ids)].astype(np.float64)
                for i, side in enumerate((self.query, self.document))
            )
            found.append([max_sim(query, document)])
        return np.array(found)


def max_sim(query: NDArray[np.float64], document: NDArray[np.float64]) -> float:
    """The sum over the query's vectors of the largest product with any of the document's."""
    return float((query @ document.T).max(axis=1).sum()) if len(document) else NO_DOCUMENT


TASK = MultiVector
