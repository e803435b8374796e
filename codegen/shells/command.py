# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch completion` and `etch man`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from .. import __version__
from ..console.argument_types import place
from ..console.subcommand import Subcommand
from ..errors import EtchError
from .completion import SHELLS, of_etch, of_program
from .manual import page
from .parsers import commands_of


def _take_shell(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    parser.add_argument("--program", type=place, metavar="FILE", help="of this program of a model instead of etch")


def _complete(arguments: argparse.Namespace) -> None:
    if arguments.program is None:
        script = of_etch(arguments.shell, commands_of(arguments.commands))
    else:
        script = of_program(arguments.shell, arguments.program.name, _help_of(arguments.program))
    sys.stdout.write(script)


def _take_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=place, required=True, metavar="DIR", help="where to write etch-COMMAND.1")


def _write_pages(arguments: argparse.Namespace) -> None:
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise EtchError("target-not-a-folder", "man", f"{arguments.out} exists and is not a folder") from None
    for command in commands_of(arguments.commands):
        path = arguments.out / f"etch-{command.name}.1"
        path.write_text(page(command, __version__), encoding="utf-8")
        print(f"wrote {path}")


def _help_of(program: Path) -> str:
    try:
        done = subprocess.run([program.absolute(), "--help"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it did not answer"
        raise EtchError("program-unusable", "completion", f"{program} cannot be asked for --help: {reason}") from None
    return done.stdout.decode("utf-8", "replace")


COMPLETION = Subcommand(
    "completion",
    "a script that completes commands and options in a shell",
    "In bash: source <(etch completion bash)",
    _take_shell,
    _complete,
    quiet=False,
)
MANUAL = Subcommand("man", "pages of the manual, one a command", None, _take_folder, _write_pages, quiet=False)
