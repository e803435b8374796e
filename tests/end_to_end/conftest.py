# SPDX-License-Identifier: Apache-2.0
"""Makes the generator and tests/codegen/tiny_checkpoint.py importable, however pytest was started; shared fixtures."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

_CODEGEN = Path(__file__).parents[1] / "codegen"
_PARTS = ("chat", "frontends", "frontends/decoders", "frontends/encoder_decoders", "load", "lower")
for folder in (_CODEGEN, *(_CODEGEN / part for part in _PARTS), Path(__file__).parents[2]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this test run that all its workers share; once.py fills it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def stub_objects(shared: Path) -> Path:
    """A folder for build_stub(): the objects that all stub programs share are compiled once."""
    folder = shared / "stub"
    folder.mkdir(exist_ok=True)
    return folder
