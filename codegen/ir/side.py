# SPDX-License-Identifier: Apache-2.0
"""How a model that gives a vector for each token reads documents, and how it reads queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .text import Text


@dataclass(frozen=True)
class Side:
    """One of the two."""

    prompt: str = ""  # that the caller writes before a text
    max_tokens: int | None = None  # longer texts are cut; None: at what the model takes
    least_tokens: int = 0  # shorter ones are filled up
    filler: int = 0  # with tokens of this id,
    filler_is_seen: bool = False  # which the text's tokens attend to, or not: these always attend to all of the text's
    skipped: tuple[int, ...] = ()  # ids of tokens without a vector, ascending

    def longest(self, max_tokens: int) -> int:
        """Tokens of a text, of a model that takes so many."""
        return max_tokens if self.max_tokens is None else min(self.max_tokens, max_tokens)

    def filled(self, ids: Sequence[int]) -> Text:
        """What the model reads of a text of these tokens."""
        whole = (*ids, *[self.filler] * max(0, self.least_tokens - len(ids)))
        return Text(whole, [0] * len(whole), keys=len(whole if self.filler_is_seen else ids))

    def kept(self, ids: Sequence[int]) -> NDArray[np.bool_]:
        """Which tokens have a vector."""
        return ~np.isin(np.asarray(ids, np.int64), self.skipped)
