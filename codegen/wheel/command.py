# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch wheel`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..progress import say

NAME = "wheel"


def add_to(commands: Any) -> None:
    """The command's parser."""
    parser = commands.add_parser(NAME, help="a generated model as a Python package", allow_abbrev=False)
    parser.description = (
        "Builds a shared library of the model and packs it as NAME-VERSION-py3-none-PLATFORM.whl: pip installs it "
        "where there is no compiler, for any Python from 3.10 on, with NumPy."
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="generated folder")
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER", help="where to put it (default: here)")


def run(arguments: argparse.Namespace) -> int:
    """The exit code."""
    from .wheel import make_wheel

    make_wheel(arguments.directory, arguments.out, say)
    return 0
