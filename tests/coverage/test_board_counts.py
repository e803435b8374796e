# SPDX-License-Identifier: Apache-2.0
"""The kernel sets of boards are counted: their checks still link with counters, run, and send what gcov can read."""

from __future__ import annotations

from pathlib import Path

import counted_boards
import pytest
from gcov import runtime_files
from report import problems_of, read_reasons, unreached

REASONS = Path(__file__).resolve().parent / "unreached.txt"
pytestmark = pytest.mark.skipif(counted_boards.missing_tool() is not None, reason="no cross compiler or emulator")


@pytest.mark.sweep
@pytest.mark.minutes(1)
def test_every_line_is_reached(tmp_path: Path) -> None:
    for measured in counted_boards.SETS:
        assert counted_boards.count(measured, tmp_path / measured.board)
    files = runtime_files({tmp_path: counted_boards.GCOV}, counted_boards.ROOT, [])
    assert {file.path.split("/")[3] for file in files} >= {measured.name for measured in counted_boards.SETS}
    assert not [line for line in unreached(files) if "not reached" in line]
    assert problems_of(files, read_reasons(REASONS.read_text())) == []


def test_what_cannot_be_built_is_no_count(tmp_path: Path) -> None:
    assert not counted_boards.count(counted_boards.BoardSet("dsp", "mps2-an386", ("--no-such-option",)), tmp_path)
