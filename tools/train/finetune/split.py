# SPDX-License-Identifier: Apache-2.0
"""Holds rows out of the training file."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence

from common.refusal import Refused


def split(
    groups: Sequence[Hashable], strata: Sequence[Hashable], share: float, seed: int
) -> tuple[list[int], list[int]]:
    """(training rows, held-out rows), as indices in the file's order.

    Rows of one group, which have the same texts, stay together. Of each stratum about `share` is held out.
    """
    rows: dict[Hashable, list[int]] = defaultdict(list)
    for i, group in enumerate(groups):
        rows[group].append(i)
    by_stratum: dict[Hashable, list[list[int]]] = defaultdict(list)
    for members in rows.values():
        by_stratum[strata[members[0]]].append(members)
    rng = random.Random(seed)
    held_out: set[int] = set()
    for stratum in by_stratum.values():
        rng.shuffle(stratum)
        for members in stratum[: round(share * len(stratum))]:
            held_out.update(members)
    train = [i for i in range(len(groups)) if i not in held_out]
    if not held_out or not train:
        raise Refused(f"{len(groups)} rows are too few to hold out a share of {share:g} of them")
    return train, sorted(held_out)
