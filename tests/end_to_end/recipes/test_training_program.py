# SPDX-License-Identifier: Apache-2.0
"""How the programs of tools/train end, and what they take for options. Needs no PyTorch."""

from __future__ import annotations

import subprocess
import sys

import pytest
from classify_program import ROOT

TRAIN = ROOT / "tools" / "train"
HOW = """
import sys
sys.path[1:1] = sys.argv[1:]
from common.program import ended

def run():
    {how}
    return "done"

sys.exit(ended("learn", run))
"""


@pytest.mark.parametrize(
    ("how", "code", "told"),
    [
        ("pass", 0, ""),
        ("open('/nowhere/a.txt')", 1, "learn: a.txt: No such file or directory\n"),
        ("raise OSError('no\\nnumber')", 1, "learn: no number\n"),
        ("from common.refusal import Refused; raise Refused('a\\x1bb')", 1, "learn: a?b\n"),
        ("import nothing_of_the_kind", 1, "learn: No module named 'nothing_of_the_kind'; install "),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", 130, "learn: "),
    ],
)
def test_a_run_ends_with_a_line(how: str, code: int, told: str) -> None:
    command = [sys.executable, "-c", HOW.format(how=how), str(TRAIN), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(told) and done.stderr.count("\n") == (code != 0)
    assert done.stdout == ("" if code else "done\n")
