# SPDX-License-Identifier: Apache-2.0
"""Commands that a message tells the user to run."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

MAX_LENGTH = 300  # of a command that is still shown whole


def etch_command(*words: str | os.PathLike[str]) -> str:
    """An `etch` command line that a shell takes as it is, wherever it is run: paths become absolute and are quoted.

    A path that a terminal cannot show, or that is too long for a message, is left for the user to fill in: FOLDER.
    """
    program = "etch" if __package__.startswith("etch.") else "python3 -m codegen"
    shown = [shlex.quote(str(_absolute(word)) if isinstance(word, Path) else os.fspath(word)) for word in words]
    line = " ".join([program, *shown])
    if line.isprintable() and len(line) <= MAX_LENGTH:
        return line
    return " ".join([program, *("FOLDER" if isinstance(word, Path) else str(word) for word in words)])


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))
