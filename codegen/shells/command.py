# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch completion` and `etch man`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import EtchError
from .completion import SHELLS, of_etch, of_program
from .manual import page
from .parsers import commands_of


class Completion:
    """`etch completion`."""

    NAME = "completion"

    @staticmethod
    def add_to(commands: Any) -> None:
        """The command's parser."""
        parser = commands.add_parser(
            Completion.NAME, help="a script that completes commands and options in a shell", allow_abbrev=False
        )
        parser.description = "In bash: source <(etch completion bash)"
        parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
        parser.add_argument("--program", type=Path, metavar="FILE", help="of this program of a model instead of etch")
        parser.set_defaults(commands=commands)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """The exit code."""
        if arguments.program is None:
            script = of_etch(arguments.shell, commands_of(arguments.commands))
        else:
            script = of_program(arguments.shell, arguments.program.name, _help_of(arguments.program))
        sys.stdout.write(script)
        return 0


class Manual:
    """`etch man`."""

    NAME = "man"

    @staticmethod
    def add_to(commands: Any) -> None:
        """The command's parser."""
        parser = commands.add_parser(Manual.NAME, help="pages of the manual, one a command", allow_abbrev=False)
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write etch-COMMAND.1")
        parser.set_defaults(commands=commands)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """The exit code."""
        arguments.out.mkdir(parents=True, exist_ok=True)
        for command in commands_of(arguments.commands):
            path = arguments.out / f"etch-{command.name}.1"
            path.write_text(page(command, __version__), encoding="utf-8")
            print(f"wrote {path}")
        return 0


def _help_of(program: Path) -> str:
    try:
        done = subprocess.run([program.absolute(), "--help"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it did not answer"
        raise EtchError("program-unusable", "completion", f"{program} cannot be asked for --help: {reason}") from None
    return done.stdout.decode("utf-8", "replace")
