# SPDX-License-Identifier: Apache-2.0
"""Makes the generator and tests/codegen/tiny_checkpoint.py importable, however pytest was started; shared fixtures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

for folder in (Path(__file__).parents[1] / "codegen", Path(__file__).parents[2]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@pytest.fixture(scope="session")
def stub_objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for build_stub(): the objects that all stub programs share are compiled once."""
    return tmp_path_factory.mktemp("stub")
