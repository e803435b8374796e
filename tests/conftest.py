# SPDX-License-Identifier: Apache-2.0
"""The order of the files, and which long cases a sample has; what a build by `etch` keeps for the next one is kept in
build/, not in the user's folder; NumPy multiplies with one thread, as in the generator."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sampling import sampled

os.environ["ETCH_CACHE"] = str(Path(__file__).parents[1] / "build" / "cache")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # main() of codegen/cli.py says why

LONG_CASES = 2  # of a sample


def _of_the_sample(items: list[pytest.Item]) -> list[pytest.Item]:
    """The items, of those marked as long cases only the ones whose names the sample chooses."""
    names = {item: str(mark.args[0]) for item in items if (mark := item.get_closest_marker("long_case"))}
    chosen = sampled(sorted(set(names.values())), LONG_CASES, "long cases")
    return [item for item in items if item not in names or names[item] in chosen]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is quick, then single sweeps, then the files that take minutes, the longest first, so that workers end at
    about the same time."""

    def minutes(item: pytest.Item) -> int:
        marker = item.get_closest_marker("minutes")
        return 0 if marker is None else int(marker.args[0])

    kept = _of_the_sample(items)
    left = set(items).difference(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    sweeps = {item.path for item in kept if item.get_closest_marker("sweep") is not None}
    items[:] = sorted(kept, key=lambda item: (minutes(item) > 0, item.path in sweeps, -minutes(item)))
