# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch sqlite`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..progress import say

NAME = "sqlite"


def add_to(commands: Any) -> None:
    """The command's parser."""
    parser = commands.add_parser(NAME, help="a generated model as functions of SQL", allow_abbrev=False)
    parser.description = (
        "Builds NAME.so, a loadable extension of SQLite: SELECT classify(text), classify(text, label), regress(text), "
        "embed(text) as a BLOB of float32, cosine(a, b). Each also as NAME_classify and so on."
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="generated folder")
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER", help="where to put it (default: here)")


def run(arguments: argparse.Namespace) -> int:
    """The exit code."""
    from .extension import make_extension

    make_extension(arguments.directory, arguments.out, say)
    return 0
