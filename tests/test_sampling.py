# SPDX-License-Identifier: Apache-2.0
"""Samples of sweeps: whole without a seed, the same for a seed, another for another one."""

from __future__ import annotations

import pytest
from sampling import sampled

ITEMS = list(range(100, 200))


def test_whole_without_a_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ETCH_SAMPLE", raising=False)
    assert sampled(ITEMS, 5, "numbers") == ITEMS


def test_a_seed_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETCH_SAMPLE", "7")
    chosen = sampled(ITEMS, 20, "numbers")
    assert len(chosen) == len(set(chosen)) == 20
    assert chosen == sorted(chosen)
    assert chosen == sampled(ITEMS, 20, "numbers") != sampled(ITEMS, 20, "letters")
    assert sampled(ITEMS, 100, "numbers") == sampled(ITEMS, 1000, "numbers") == ITEMS
    monkeypatch.setenv("ETCH_SAMPLE", "8")
    assert sampled(ITEMS, 20, "numbers") != chosen


def test_every_item_comes_up(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()
    for seed in range(100):
        monkeypatch.setenv("ETCH_SAMPLE", str(seed))
        seen.update(sampled(ITEMS, 10, "numbers"))
    assert seen == set(ITEMS)
