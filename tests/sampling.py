# SPDX-License-Identifier: Apache-2.0
"""A part of a large sweep, chosen by a seed: `tools/test --sample` prints it and hands it on in ETCH_SAMPLE."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
ROOT = Path(__file__).resolve().parents[1]


def seed_of_the_tree() -> int:
    """Of the files that are committed: whoever runs this tree gets the same sample, so that a red run stays red.

    A seed drawn afresh where git cannot tell.
    """
    told = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(told.stdout[:8], 16) if told.returncode == 0 else random.SystemRandom().randrange(2**32)


def sampled(items: Sequence[Item], count: int, what: str) -> list[Item]:
    """`count` of the items in their order, the same ones in every process; all of them without a seed.

    `what` names the sweep: two sweeps of one run do not choose alike.
    """
    seed = os.environ.get("ETCH_SAMPLE")
    if not seed or count >= len(items):
        return list(items)
    chosen = set(random.Random(f"{seed} {what}").sample(range(len(items)), count))
    return [item for number, item in enumerate(items) if number in chosen]
