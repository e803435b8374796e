# SPDX-License-Identifier: Apache-2.0
"""What a model reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Text(NamedTuple):
    """Token ids, special tokens included, and the segment of each."""

    ids: Sequence[int]
    segments: Sequence[int]
    offsets: Sequence[tuple[int, int]] = ()  # characters, where somebody wants to know them
    keys: int | None = None  # the first tokens, which all attend to; None: every one


def in_batches(lengths: Sequence[int], most: int) -> Iterator[range]:
    """Ranges of texts of these lengths, one after the other, each of at most so many tokens or of one text."""
    begin, tokens = 0, 0
    for i, length in enumerate(lengths):
        if i > begin and tokens + length > most:
            yield range(begin, i)
            begin, tokens = i, 0
        tokens += length
    yield range(begin, len(lengths))
