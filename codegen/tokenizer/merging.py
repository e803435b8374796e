# SPDX-License-Identifier: Apache-2.0
"""What byte pair encoding makes of a text, as the runtime finds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

Text = TypeVar("Text", str, bytes)


def merged(symbols: Sequence[Text], rank: Callable[[Text, Text], int | None]) -> list[Text]:
    """Of neighbours those of the lowest `rank` become one, the leftmost of equals, until none has one."""
    parts = list(symbols)
    ranks = [rank(*pair) for pair in pairwise(parts)]
    while (lowest := min((one for one in ranks if one is not None), default=None)) is not None:
        place = ranks.index(lowest)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        del ranks[place]
        for before in range(max(place - 1, 0), min(place + 1, len(ranks))):
            ranks[before] = rank(parts[before], parts[before + 1])
    return parts
