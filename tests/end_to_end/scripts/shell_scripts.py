# SPDX-License-Identifier: Apache-2.0
"""The shell scripts of the repository."""

from __future__ import annotations

import re
from pathlib import Path

from classify_program import ROOT

_FOLDERS = (".ci", "codegen", "firmware-demo", "runtime", "tests", "tools")
_SHELL = re.compile(rb"#!.*\b(?:ba|da)?sh\b")


def shell_scripts() -> list[Path]:
    """Files that say so in their first line or by their name."""
    files = [path for folder in _FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    return [path for path in files if path.suffix == ".sh" or _SHELL.match(path.open("rb").readline(80))]


def tools() -> list[Path]:
    """The commands in tools/."""
    return [path for path in shell_scripts() if path.parent == ROOT / "tools"]
