# SPDX-License-Identifier: Apache-2.0
"""Random token ids for tiny generative models, the same wherever they are made."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from random import Random

COUNT = 1280  # so that 1,000 are left where some are not compared
LONGEST, FIRST = 24, 3  # tokens of a text, and the first id that no model takes for its own
# A family's tiny checkpoint, where texts end by themselves; the textbooks' has no such one.
TINY = {
    "t5": "t5/texts",
    "mbart": "mbart/texts",
    "gpt2": "gpt2/texts",
    "llama": "llama/texts",
    "transformer": "transformer/paper",
}


def random_texts(variant: str, vocabulary: int) -> list[list[int]]:
    """Of 1 to LONGEST ids each."""
    random = Random(variant)

    def below(count: int) -> int:
        return int(random.random() * count)

    return [[FIRST + below(vocabulary - FIRST) for _ in range(1 + below(LONGEST))] for _ in range(COUNT)]


def digest(ids: Sequence[object]) -> str:
    """Of ids as they are printed."""
    return f"{zlib.crc32(' '.join(map(str, ids)).encode()):08x}"
