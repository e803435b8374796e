# SPDX-License-Identifier: Apache-2.0
"""What a model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Text(NamedTuple):
    """Token ids, special tokens included, and the segment of each."""

    ids: Sequence[int]
    segments: Sequence[int]
    offsets: Sequence[tuple[int, int]] = ()  # characters, where somebody wants to know them
    keys: int | None = None  # the first tokens, which all attend to; None: every one
