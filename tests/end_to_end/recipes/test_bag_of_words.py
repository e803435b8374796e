# SPDX-License-Identifier: Apache-2.0
"""tools/train/agnews/bag_of_words.py on texts that hold a word of their topic. Skipped without PyTorch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from agnews_texts import write_agnews
from classify_program import ROOT

pytest.importorskip("torch", reason="PyTorch is not installed")

SCRIPT = ROOT / "tools" / "train" / "agnews" / "bag_of_words.py"


def run(data: Path | None, *options: str | Path) -> subprocess.CompletedProcess[str]:
    """One run."""
    environment = {name: value for name, value in os.environ.items() if name != "ETCH_DATA"}
    environment |= {"OMP_NUM_THREADS": "1"} | ({} if data is None else {"ETCH_DATA": str(data)})
    command = [sys.executable, SCRIPT, *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_a_word_says_the_topic(tmp_path: Path) -> None:
    data, file = write_agnews(tmp_path / "data"), tmp_path / "found.json"
    done = run(data, "--sizes", "16", "64", "--json", file)
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    assert [one["kilobytes"] for one in found] == [16, 64]
    for one, line in zip(found, done.stdout.splitlines(), strict=True):
        assert min(one["held_out"], one["test"]) > 0.95
        assert line.split()[:2] == [str(one["kilobytes"]), "KB"]
        assert f"{100 * one['held_out']:.2f} % held out, {100 * one['test']:.2f} % test" in line


def test_without_data() -> None:
    done = run(None, "--sizes", "16")
    assert done.returncode == 1 and "ETCH_DATA" in done.stderr
