# SPDX-License-Identifier: Apache-2.0
"""Rows that see all of their text and are seen by all of it, where others see a window: which ones they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Before:
    """Of a text the rows before its first token of an id, of which the very first is one in any case; all where it has
    no such token."""

    id: int


@dataclass(frozen=True)
class Behind:
    """Of a text the rows behind the token that follows such a one: those of a second text, where two of the id are
    between them. The last row is one in any case."""

    id: int


GlobalRows = int | Before | Behind  # of each text so many first rows, or those that its ids say


def rows_of_text(rows: GlobalRows, ids: NDArray[np.int64]) -> slice:
    """Which these are of a text with the ids."""
    if isinstance(rows, int):
        return slice(0, min(rows, len(ids)))
    found = np.flatnonzero(ids[1:] == rows.id)
    end = 1 + int(found[0]) if found.size else len(ids)
    return slice(0, end) if isinstance(rows, Before) else slice(min(end + 2, len(ids) - 1), len(ids))
