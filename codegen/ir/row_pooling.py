# SPDX-License-Identifier: Apache-2.0
"""Rows that become fewer on their way through an encoder, and stand for all tokens again behind it (Funnel Transformer,
Dai et al. 2020, arXiv:2006.03236).

At level 0 a text has a row per token; each pooling makes one row of two of the level before. With `apart` the first row
stays by itself: row i > 0 is made of rows 2 i - 1 and 2 i. Otherwise row i is made of rows 2 i and 2 i + 1. A row that
has no second one stays as it is, and so does a text that has no two rows to pool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .op import attribute, read, updated, written

PooledBy = Literal["mean", "max"]
SEGMENT_OF_ALL = 2  # that of tokens which are of every segment
MOST_LEVELS = 8


@dataclass(frozen=True)
class RowPooling:
    """How two rows become one. With `cut`, which needs `apart`, the last row of a text is in no pair."""

    by: PooledBy
    apart: bool
    cut: bool

    def count(self, rows: int) -> int:
        """How many are left."""
        if rows <= (2 if self.apart else 1):
            return rows
        return (rows + (self.apart and not self.cut) + 1) // 2

    def count_at(self, level: int, tokens: int) -> int:
        """Of a text of so many tokens."""
        for _ in range(level):
            tokens = self.count(tokens)
        return tokens

    def firsts(self, rows: int) -> NDArray[np.int64]:
        """Of each row that is left the first that it is made of."""
        made = np.arange(self.count(rows))
        if len(made) == rows:
            return made
        return np.maximum(2 * made - 1, 0) if self.apart else 2 * made

    def seconds(self, rows: int) -> NDArray[np.int64]:
        """The second one, or once more the first."""
        firsts = self.firsts(rows)
        if len(firsts) == rows:
            return firsts
        paired = firsts + 1 < rows - (1 if self.apart and self.cut else 0)
        if self.apart:
            paired[0] = False
        return firsts + paired

    def tokens(self, level: int, rows: int) -> NDArray[np.int64]:
        """At which token each row of a level stands."""
        at = np.arange(rows)
        return np.where(at > 0, ((at - 1) << level) + 1, 0) if self.apart else at << level

    def rows_of_tokens(self, level: int, tokens: int) -> NDArray[np.int64]:
        """Which row of a level stands for each token; those past the last one have none."""
        at = np.arange(tokens)
        return np.where(at > 0, ((at - 1) >> level) + 1, 0) if self.apart else at >> level


@dataclass(frozen=True)
class PooledScores:
    """What an attention of such an encoder adds to the scores: products of the query with the relative key of the
    distance and with the key of the same segment or of different ones, and the head's number for both. The first row,
    and keys that are the first row, have none of it where they are `apart`. A text has as many keys as queries, or
    those of the rows that these were pooled from.

    Distances are key - query in rows of the level before that of the queries, of level 0 in tokens: row distance + rows
    / 2 of the relative keys."""

    pooling: RowPooling
    level: int  # of the queries

    def reach(self, max_tokens: int) -> int:
        """The farthest distance that rows of a text have."""
        return max(self.pooling.count_at(max(self.level - 1, 0), max_tokens), 2)


@dataclass(frozen=True)
class PoolRows:
    """To the next level, in place. Among layers in the first of them only."""

    pooling: RowPooling = attribute()
    value: str = updated()


@dataclass(frozen=True)
class Upsample:
    """Each row of tokens in `value` plus the row of `input`, which is of a level, that stands for the token; where none
    does, the row stays."""

    pooling: RowPooling = attribute()
    level: int = attribute()
    input: str = read()
    value: str = updated()


@dataclass(frozen=True)
class Copy:
    """out = input: what is written again later."""

    input: str = read()
    out: str = written()
