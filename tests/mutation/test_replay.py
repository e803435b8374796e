# SPDX-License-Identifier: Apache-2.0
"""A recorded call is made again, and another answer is seen."""

from __future__ import annotations

import subprocess
from pathlib import Path

import replay
from replay import Answer

PROGRAM = """#!/bin/sh
{before}
tr a-z A-Z
echo "$1"
"""


def program(folder: Path, before: str = "") -> Path:
    path = folder / "program"
    path.write_text(PROGRAM.format(before=before))
    path.chmod(0o755)
    return path


def test_calls_are_written_down_and_made_again(tmp_path: Path) -> None:
    asked = replay.recorder(tmp_path / "recorded", program(tmp_path))
    for given in (b"one", b"two", b"one"):
        done = subprocess.run([asked, "--loud"], input=given, capture_output=True, check=True)
        assert done.stdout == given.upper() + b"--loud\n"
    first, second = replay.read(tmp_path / "recorded" / "calls")
    assert first.test == "tests/mutation/test_replay.py::test_calls_are_written_down_and_made_again"
    assert (first.given.read_bytes(), second.given.read_bytes()) == (b"one", b"two")
    assert replay.ask(program(tmp_path), first) == Answer.SAME
    assert replay.ask(program(tmp_path, "shift"), first) == Answer.OTHER
    assert replay.ask(program(tmp_path, "exit 3"), first) == Answer.NONE
    slow = replay.Call(first.arguments, first.given, first.answer, -0.49, first.test)  # 0.1 s are too long
    assert replay.ask(program(tmp_path, "exec sleep 5"), slow) == Answer.NONE
