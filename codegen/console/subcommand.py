# SPDX-License-Identifier: Apache-2.0
"""A command of etch that has a package of its own."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .argument_types import head, place
from .table_options import columns


@dataclass(frozen=True)
class Subcommand:
    """Its part of the command line, and what it does; that is imported when it runs, so that --help answers at once."""

    NAME: str
    summary: str  # in the list of commands
    description: str | None
    take: Callable[[argparse.ArgumentParser], None]  # adds its arguments
    do: Callable[[argparse.Namespace], int | None]  # gives the exit code; nothing is 0
    imports: Callable[[], None] = lambda: None  # what takes long to import, before `do` and what may stop it
    quiet: bool = True  # whether it has --quiet
    compares: bool = False  # like `diff`: 1 says that something differs, 2 that it could not be compared

    def add_to(self, commands: Any) -> None:
        """The command's parser."""
        parser = commands.add_parser(self.NAME, help=self.summary, description=self.description, allow_abbrev=False)
        self.take(parser)
        if self.quiet:
            parser.add_argument("--quiet", action="store_true", help="print errors only; the exit code says the rest")

    def run(self, arguments: argparse.Namespace) -> int:
        """The exit code."""
        return self.do(arguments) or 0


def take_model(parser: argparse.ArgumentParser) -> None:
    """The generated folder."""
    parser.add_argument("directory", type=place, metavar="DIR", help="generated folder")


def take_heads(parser: argparse.ArgumentParser) -> None:
    """Of a model that has several."""
    parser.add_argument(
        "--head",
        action="append",
        type=head,
        default=[],
        metavar="NAME=FOLDER",
        help="add a head from FOLDER, whose encoder must be the same; repeatable. One pass computes all heads; one "
        "that answers questions keeps calls of its own, a pass for each window of a context",
    )


def take_compared(parser: argparse.ArgumentParser) -> None:
    """The generated folder, and what it was made of."""
    take_model(parser)
    parser.add_argument("--checkpoint", type=place, required=True, metavar="FOLDER", help="what it was generated from")
    take_heads(parser)
    parser.add_argument("--calibrate", type=place, metavar="FILE", help="what the model was calibrated on")
    parser.add_argument("--calibrate-columns", type=columns, metavar="A,B", help="as for generate")
    parser.add_argument("--smooth", type=place, metavar="FILE", help="what the model was smoothed by")
    parser.add_argument("--smooth-columns", type=columns, metavar="A,B", help="as for generate")


def take_model_and_place(parser: argparse.ArgumentParser) -> None:
    """The generated folder, and where to put the one file that is made of it."""
    take_model(parser)
    parser.add_argument("--out", type=place, default=Path(), metavar="FOLDER", help="where to put it (default: here)")
