# SPDX-License-Identifier: Apache-2.0
"""Makes tools.reports and the helpers of the other tests importable, however pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT, ROOT / "tests" / "end_to_end", Path(__file__).parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from linked import COMPILERS, Linker  # noqa: E402 - of this folder


@pytest.fixture(params=COMPILERS, ids=["host", "arm"])
def link(request: pytest.FixtureRequest, tmp_path: Path) -> Linker:
    return Linker(request.param, tmp_path)


@pytest.fixture
def link_host(tmp_path: Path) -> Linker:
    return Linker("", tmp_path)
