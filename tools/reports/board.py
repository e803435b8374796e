# SPDX-License-Identifier: Apache-2.0
"""A board's firmware: built, run under emulation, and asked for the stack that it has used by then."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from codegen.process.children import run_with_children

from .failure import refused

_ROOT = Path(__file__).resolve().parents[2]
_FIRMWARE = _ROOT / "tools" / "firmware"
_SECONDS = 1800
# What reaches deep: a short text, one that is cut, characters that take normalization apart, and the self test.
_LINES = (
    "Oil prices climb after the summit",
    "word " * 150,
    "e\u0301\u0327 \ufb03 \u1e9b\u0323 \U0001f600" * 8,
    "!self",
    "!mem",
)


def built_and_painted(board: str) -> tuple[Path, int]:
    """The ELF of the board's firmware, and the bytes of stack that texts and its self test painted over."""
    elf = _ROOT / _run("build", board).splitlines()[-1]
    painted = re.search(r"\bstack_painted=(\d+)", _run("run", board, *_LINES))
    if painted is None:
        raise refused("no-painted-stack", f"the firmware of {board} did not tell how much stack it has used")
    return elf, int(painted[1])


def _run(*arguments: str) -> str:
    try:
        done = run_with_children([str(_FIRMWARE), *arguments], _SECONDS, stdout=subprocess.PIPE, text=True)
    except subprocess.TimeoutExpired as error:
        raise refused("board-failed", f"tools/firmware {arguments[0]} {arguments[1]}: no answer in time") from error
    if done.returncode != 0:
        raise refused("board-failed", f"tools/firmware {arguments[0]} {arguments[1]}: exit code {done.returncode}")
    return str(done.stdout)
