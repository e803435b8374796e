# SPDX-License-Identifier: Apache-2.0
"""The order of the files: those with long tests first, so that two workers end at about the same time."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    long = {item.path for item in items if item.get_closest_marker("sweep") is not None}
    items.sort(key=lambda item: item.path not in long)
