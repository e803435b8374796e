# SPDX-License-Identifier: Apache-2.0
"""The order of the files, and what happens when the time is over."""

from __future__ import annotations

import os
import time

import pytest

DEADLINE = float(os.environ.get("ETCH_DEADLINE", "inf"))  # seconds since the epoch


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """First what takes minutes, so that workers end at about the same time; then what is quick, so that a deadline
    cuts off single sweeps."""

    def files(marker: str) -> set[object]:
        return {item.path for item in items if item.get_closest_marker(marker) is not None}

    minutes, sweeps = files("minutes"), files("sweep")
    items.sort(key=lambda item: 0 if item.path in minutes else 2 if item.path in sweeps else 1)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    if time.time() > DEADLINE:
        pytest.skip("no time left for it (--minutes)")
