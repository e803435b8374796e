# SPDX-License-Identifier: Apache-2.0
"""The order of the files; what a build by `etch` keeps for the next one is kept in build/, not in the user's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["ETCH_CACHE"] = str(Path(__file__).parents[1] / "build" / "cache")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is quick, then single sweeps, then the files that take minutes, the longest first, so that workers end at
    about the same time."""

    def minutes(item: pytest.Item) -> int:
        marker = item.get_closest_marker("minutes")
        return 0 if marker is None else int(marker.args[0])

    sweeps = {item.path for item in items if item.get_closest_marker("sweep") is not None}
    items.sort(key=lambda item: (minutes(item) > 0, item.path in sweeps, -minutes(item)))
