# SPDX-License-Identifier: Apache-2.0
"""Makes title-like texts out of the training rows; only the teacher labels them."""

from __future__ import annotations

import random

TITLE_WORDS = (4, 12)


def titles(texts: list[str], seed: int) -> list[str]:
    """The first few words of each text: what a title alone looks like."""
    rng = random.Random(seed)
    return [" ".join(text.split()[: rng.randint(*TITLE_WORDS)]) for text in texts]
