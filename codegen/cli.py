# SPDX-License-Identifier: Apache-2.0
"""Arguments of `python3 -m codegen`, and how every failure ends: one clear line and an exit code."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
import sys
from pathlib import Path

from . import __version__
from .bundle.command import COMMAND as BUNDLE
from .console.generate_command import COMMAND as GENERATE
from .console.inspect_command import COMMAND as INSPECT
from .console.parser import WRONG_USE, Parser
from .console.subcommand import Subcommand
from .convert.command import COMMAND as CONVERT
from .errors import EtchError, printable
from .evidence.command import COMMAND as EVIDENCE
from .fetch.command import COMMAND as FETCH
from .merge.command import COMMAND as MERGE
from .process.interrupts import Stops, stoppable
from .process.progress import listening, standard_listener
from .shells.command import COMPLETION, MANUAL
from .sqlite.command import COMMAND as SQLITE
from .verification.command import COMMAND as VERIFY
from .web.command import COMMAND as WEB
from .wheel.command import COMMAND as WHEEL

# Commands, in the order of --help.
COMMANDS = (GENERATE, INSPECT, VERIFY, BUNDLE, CONVERT, FETCH, MERGE, WHEEL, SQLITE, WEB, EVIDENCE, COMPLETION, MANUAL)


def make_parser() -> argparse.ArgumentParser:
    """Of every command."""
    parser = Parser(prog="etch", description="Turns a transformer checkpoint into static C++.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"etch {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    parser.set_defaults(commands=commands)  # completion and man say what there is
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def run(arguments: argparse.Namespace, stops: Stops) -> int:
    """Runs a parsed command; returns its exit code."""
    command = _command_of(arguments)
    command.imports()
    stops.watch()
    return command.run(arguments)


def _command_of(arguments: argparse.Namespace) -> Subcommand:
    return next(command for command in COMMANDS if arguments.command == command.NAME)


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 done, 1 refused or failed, 2 wrong use or nothing to compare, 128 + n stopped by signal n."""
    # NumPy reads this when it is imported, for some arguments while they are read. Its products here are small: more
    # threads wait for each other more than they multiply, three times as long where other programs run.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _prepare_stdout()
    return stoppable("etch", lambda stops: _answered(argv, stops), ends_process=argv is None)


def _answered(argv: list[str] | None, stops: Stops) -> int:
    """The exit code of a command line; every failure is one line."""
    wrong = 1
    try:
        arguments = make_parser().parse_args(argv)
        wrong = WRONG_USE if _command_of(arguments).compares else 1
        quiet = getattr(arguments, "quiet", False)
        with contextlib.ExitStack() as around:
            if quiet:
                silence = around.enter_context(open(os.devnull, "w", encoding="utf-8"))
                around.enter_context(contextlib.redirect_stdout(silence))
            around.enter_context(listening(None if quiet else standard_listener()))
            code = run(arguments, stops)
        sys.stdout.flush()
        return code
    except SystemExit:  # --help, --version
        _release_stdout()
        raise
    except EtchError as error:
        if error.detail:
            sys.stderr.write(error.detail + "\n")
        return _fail(str(error), WRONG_USE if error.stage == "arguments" else wrong)
    except BrokenPipeError:
        _release_stdout()
        return 1
    except MemoryError:
        return _fail("error[out-of-memory] the checkpoint does not fit into memory", 1)
    except OSError as error:
        _release_stdout()
        place = "" if error.filename is None else f": {error.filename}"
        return _fail(f"error[system] {error.strerror or error}{place}", 1)
    except Exception as error:
        if stops.seen:  # a library has made another exception of the interrupt
            raise KeyboardInterrupt from error
        if isinstance(error, ImportError):
            return _fail(f"error[python-package-missing] {error}: pip install --no-deps -r {_requirements()}", 1)
        # A bug of ours; a user still gets one line.
        return _fail(f"error[internal] {type(error).__name__}: {error}: please report this", 1)


def _prepare_stdout() -> None:
    """A closed stdout is like /dev/null, and what a terminal's encoding lacks is escaped: neither stops the work."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _release_stdout() -> None:
    """What cannot be written is dropped, or Python would complain about it at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _requirements() -> str:
    """The generator's list of packages, as a path that holds in the current folder."""
    path = Path(__file__).resolve().parent / "requirements.txt"
    return shlex.quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"etch: {printable(message, 2000)}\n")
    return code
