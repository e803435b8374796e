# SPDX-License-Identifier: Apache-2.0
"""What a command has started ends with it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from codegen.process.children import run_with_children


def is_running(process: int) -> bool:
    """Not so where it is gone, or ended and nobody has asked how."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def ends(process: int) -> bool:
    """Whether it does so soon."""
    last = time.monotonic() + 30
    while is_running(process) and time.monotonic() < last:
        time.sleep(0.05)
    return not is_running(process)


def test_a_command_that_ends() -> None:
    done = run_with_children(["sh", "-c", "echo said; exit 3"], 60, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (3, b"said\n")


@pytest.mark.parametrize("deaf", [False, True], ids=["stops", "does not listen"])
def test_a_command_that_takes_too_long(deaf: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.process.children._GRACE", 0.5)
    script = f"{'trap : TERM; ' if deaf else ''}(exec sleep 600) & echo $!; while :; do wait; done"
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        run_with_children(["sh", "-c", script], 2, stdout=subprocess.PIPE)
    child = int(caught.value.stdout)
    assert ends(child)


def test_a_tool_ends_what_is_in_another_group(tmp_path: Path) -> None:
    place = tmp_path / "child"
    script = f"""
        trap 'kill -9 "$child"; exit 1' TERM
        setsid sleep 600 & child=$!
        echo "$child" > {place}
        while :; do wait; done
    """
    with pytest.raises(subprocess.TimeoutExpired):
        run_with_children(["sh", "-c", script], 2)
    child = int(place.read_text())
    assert ends(child)
