# SPDX-License-Identifier: Apache-2.0
"""Offsets of random lives: none that are alive together share bytes, and the arena is as large as some op needs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import pytest

from codegen.memory.placement import Life, lower_bound, place


def assert_disjoint(lives: dict[str, Life], arena: Iterable[tuple[str, int, int]]) -> None:
    spans = {name: (offset, offset + size) for name, offset, size in arena}
    assert set(spans) == set(lives)
    for one, other in itertools.combinations(lives, 2):
        together = lives[one].first <= lives[other].last and lives[other].first <= lives[one].last
        if together and lives[one].size and lives[other].size:
            assert spans[one][1] <= spans[other][0] or spans[other][1] <= spans[one][0]


@pytest.mark.parametrize("seed", range(60))
def test_random_lives(seed: int) -> None:
    source = random.Random(seed)
    ops = source.randint(1, 30)
    lives = {}
    for index in range(source.randint(1, 25)):
        first = source.randrange(ops)
        size = source.choice((0, 1, 2, 3, 5, 8, 13)) * source.choice((16, 64, 4096))
        lives[f"b{index}"] = Life(size, first, source.randrange(first, ops))
    placements = place(lives)
    assert_disjoint(lives, [(item.name, item.offset, item.size) for item in placements])
    most = max((sum(life.size for life in lives.values() if life.first <= op <= life.last)) for op in range(ops))
    arena = max(item.offset + item.size for item in placements)
    assert lower_bound(lives.values(), ops) == most <= arena <= sum(life.size for life in lives.values())
    shuffled = list(lives.items())
    source.shuffle(shuffled)
    assert place(dict(shuffled)) == placements  # whatever the order they are named in


def test_nested_lives_reach_the_bound() -> None:
    lives = {"all": Life(64, 0, 9), "left": Life(128, 0, 4), "right": Life(128, 5, 9), "inner": Life(64, 6, 7)}
    placements = place(lives)
    assert max(item.offset + item.size for item in placements) == 256
