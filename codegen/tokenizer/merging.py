# SPDX-License-Identifier: Apache-2.0
"""What byte pair encoding makes of a text, as the runtime finds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Text = TypeVar("Text", str, bytes)


def merged(symbols: Sequence[Text], rank: Callable[[Text, Text], int | None]) -> list[Text]:
    """Of neighbours those of the lowest `rank` become one, the leftmost of equals, until none has one."""
    parts = list(symbols)
    while True:
        ranks = [
            (found, place) for place in range(len(parts) - 1) if (found := rank(*parts[place : place + 2])) is not None
        ]
        if not ranks:
            return parts
        _, place = min(ranks)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
