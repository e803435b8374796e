# SPDX-License-Identifier: Apache-2.0
"""How a model weighs queries that go through none of its layers: each of their tokens by a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class QueryWeights:
    """The table, and where a query's own tokens are among those that the tokenizer makes of it."""

    weights: tuple[float, ...]  # of each id, float32, at least 0
    before: int  # special tokens that the template writes before a text, which weigh nothing there,
    behind: int  # and behind it
    own_tokens: int | None = None  # that a query has at most; None: as many as the model takes

    def longest(self, max_tokens: int) -> int:
        """Tokens of a query with its frame, of a model that takes so many."""
        return max_tokens if self.own_tokens is None else min(max_tokens, self.own_tokens + self.before + self.behind)

    def array(self) -> NDArray[np.float32]:
        """The table as the runtime has it."""
        return np.array(self.weights, np.float32)

    def row(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """What a query of these tokens, its frame among them, weighs the entries."""
        row = np.zeros(len(self.weights), np.float32)
        for entry in ids[self.before : max(self.before, len(ids) - self.behind)]:
            row[entry] = self.weights[entry]
        return row
