# SPDX-License-Identifier: Apache-2.0
"""How a generative model searches for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Search:
    """As `generate` of `transformers` 5 has it."""

    beams: int = 1  # sequences that are continued at the same time; 1: greedily
    length_penalty: float = 1.0  # the score of one that has ended is its sum / its length ^ this
    early_stopping: bool | Literal["never"] = False
    renormalize: bool = False  # the probabilities of what may be written have the sum 1

    def least_vocabulary(self, ends: int) -> int:
        """Tokens that may be written, where so many of them are ends: enough for beams to go on with none of these."""
        return 2 * self.beams + ends


GREEDY = Search()


@dataclass(frozen=True)
class Restrictions:
    """What may be written behind what is there: etch/decode/restrictions.hpp says what each means."""

    repetition_penalty: float = 1.0
    no_repeat: int = 0
    words: tuple[tuple[int, ...], ...] = ()
    not_first: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return self != FREE

    def most_banned(self, tokens: int) -> int:
        """So many different tokens may not be written behind so many others, at most."""
        repeated = max(0, tokens - self.no_repeat + 1) if self.no_repeat else 0
        return repeated + len({word[-1] for word in self.words}) + len(self.not_first)

    def banned(self, begin: Sequence[int], written: Sequence[int]) -> list[int]:
        """What may not be written behind these tokens."""
        before, size = (*begin, *written), self.no_repeat
        grams = [before[i : i + size] for i in range(len(before) - size + 1)] if size else []
        return [
            *(gram[-1] for gram in grams if gram[:-1] == before[len(before) + 1 - size :]),
            *(word[-1] for word in self.words if word[:-1] == before[max(0, len(before) + 1 - len(word)) :]),
            *(self.not_first if not written else ()),
        ]

    def applied(self, row: NDArray, begin: Sequence[int], written: Sequence[int], shift: Any = 0) -> NDArray:
        """[vocabulary]: values are those of the row minus `shift`; of what may not be written -2^100."""
        row, ids = row.copy(), np.unique((*begin, *written))
        if self.repetition_penalty != 1:
            values, penalty = row[ids] - shift, row.dtype.type(self.repetition_penalty)
            row[ids] = shift + np.where(values < 0, values * penalty, values / penalty)
        row[self.banned(begin, written)] = -(2.0**100)
        return row


FREE = Restrictions()


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn: etch/decode/sampling.hpp says what each means."""

    temperature: float = 1.0
    top_k: int = 0  # 0: as many as there are
    top_p: float = 1.0
    seed: int = 0
    text: int = 0
