# SPDX-License-Identifier: Apache-2.0
"""Which tokens an encoder's attention sees, of families that write and of their classes that do not."""

from __future__ import annotations

import random
from typing import Any

Settings = dict[str, Any]


def led_windows(source: random.Random, layers: int) -> Settings:
    """Of an encoder; the largest is one that the others divide, as the library needs it."""
    windows = source.choice(((4,), (8,), (12,), (4, 8), (4, 12)))
    return {"attention_window": windows[0] if len(windows) == 1 else [source.choice(windows) for _ in range(layers)]}


def sparse_attention(source: random.Random) -> Settings:
    """Of BigBird's PEGASUS; most are full for short texts."""
    kind = source.choice(("original_full", "block_sparse", "block_sparse", None))
    settings = {"block_size": source.choice((2, 4, 9)), "num_random_blocks": source.choice((1, 3))}
    settings |= {} if kind is None else {"attention_type": kind}
    return settings | ({"use_bias": True} if source.random() < 0.4 else {})
