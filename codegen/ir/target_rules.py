# SPDX-License-Identifier: Apache-2.0
"""What a generative model writes: how a sequence begins and ends, and which token comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .search import FREE, GREEDY, Restrictions, Sampling, Search


@dataclass(frozen=True)
class TargetRules:
    """The sequence that the phase `repeat` writes, a token a step: what it begins with is read as if it had been
    written. The end is the token that ends it, one of several; it counts as one of `max_tokens`, what it begins with
    does not."""

    vocabulary: int
    max_tokens: int
    begin: tuple[int, ...]  # ids; empty: the tokens of the text
    ends: tuple[int, ...]
    forced_end: bool = False  # the last of max_tokens is the first of them, whatever has the largest logit
    never: tuple[int, ...] = ()  # ids that are not written, whatever their logits
    least_tokens: int = 0  # behind which the end may be written
    search: Search = GREEDY
    empty: int | None = None  # read in the place of a text without tokens; None: there is no such text
    counted: int = 0  # of those that it begins with, the last ones: they count as written where scores are divided
    sampling: Sampling | None = None  # where a call asks for no other; None: the best tokens are written

    restrictions: Restrictions = FREE

    def read_first(self, ids: Sequence[int]) -> tuple[int, ...]:
        """What is read before the first token is written; `ids` are those of the text."""
        return self.begin or tuple(ids) or (() if self.empty is None else (self.empty,))

    def not_after(self, count: int) -> list[int]:
        """The ids that are not written behind so many tokens."""
        return [*self.never, *(self.ends if count < self.least_tokens else ())]

    def ended(self, written: Sequence[int]) -> bool:
        """Whether the last token ends what is written."""
        return bool(written) and written[-1] in self.ends

    def best(self, logits: NDArray, begin: Sequence[int], written: Sequence[int]) -> int:
        """The token that a step writes behind these, `begin` what was read first: that of the largest logit, the lowest
        of equals."""
        allowed = self.restrictions.applied(logits, begin, written)
        allowed[self.not_after(len(written))] = -np.inf
        return int(np.argmax(allowed))

    @property
    def all_logits(self) -> bool:
        """Whether those of all rows are there at once: where something has to change them, or draws."""
        return bool(self.restrictions) or self.sampling is not None

    def steps(self, text_tokens: int) -> int:
        """Most steps for a text: what the target begins with is read first, its last token never."""
        return (len(self.begin) or text_tokens) + self.max_tokens - 1
