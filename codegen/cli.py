# SPDX-License-Identifier: Apache-2.0
"""Arguments of `python3 -m codegen`, and how every failure ends: one clear line and an exit code."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from . import __version__
from .build import boards
from .errors import EtchError, printable
from .interrupts import SIGNALS

if TYPE_CHECKING:
    from .budget import Limits

WRONG_USE = 2


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {printable(message)} (see {self.prog} --help)\n")
        raise SystemExit(WRONG_USE)


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:10]) <= 1 << 20:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {1 << 20}")
    return int(text)


def _size(text: str) -> int:
    from .budget import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size: 512K, 1M or a number of bytes") from error


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share above 0, up to 1")
    return share


def _bits(text: str) -> dict[str, int]:
    from .quantize.bits import parse_bits

    try:
        return parse_bits(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{error}' is not PLACE=8 or PLACE=4, each place once") from error


def make_parser() -> argparse.ArgumentParser:
    """The commands generate, inspect, verify and bundle."""
    parser = _Parser(prog="etch", description="Turns a transformer checkpoint into static C++.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"etch {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    generate = commands.add_parser("generate", help="checkpoint folder to C++ sources", allow_abbrev=False)
    generate.add_argument("folder", type=Path, metavar="FOLDER", help="Hugging Face checkpoint folder")
    generate.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    generate.add_argument("--name", help="model name: namespace, files, symbols (default: from the name of DIR)")
    generate.add_argument("--recipe", choices=("w8a8", "w4a8", "fp32"), default="w8a8", help="default: w8a8")
    generate.add_argument(
        "--embedding-bits", type=int, choices=(8, 4), default=8, help="of word and position tables; default: 8"
    )
    generate.add_argument(
        "--bits",
        type=_bits,
        default={},
        metavar="PLACE=N,...",
        help="8 or 4 bits for single weights: intermediate=4 in all layers, 2.intermediate=4 in layer 2; "
        "inspect lists the places",
    )
    generate.add_argument(
        "--calibrate", type=Path, metavar="FILE", help="round 4-bit weights by these texts, one a line"
    )
    generate.add_argument("--max-tokens", type=_positive, metavar="N", help="longest text, specials included")
    generate.add_argument("--tables", choices=("c", "incbin"), default="incbin", help="default: incbin")
    generate.add_argument("--target", choices=("host", "m-profile"), default="host", help="default: host")
    generate.add_argument("--build", action="store_true", help="build library and program in DIR/build/bin")
    generate.add_argument(
        "--prune-vocabulary",
        type=Path,
        metavar="FILE",
        help="drop the pieces that this file (text lines, .csv or .tsv) uses less often than --min-count",
    )
    generate.add_argument("--min-count", type=_positive, metavar="N")
    generate.add_argument(
        "--rare-words",
        choices=("spelled", "unknown"),
        help="words whose piece is dropped: spelled by shorter pieces (default), or unknown, as [UNK]",
    )
    generate.add_argument(
        "--evaluate", type=Path, metavar="FILE", help="labelled .csv or .tsv: report how good the answers are"
    )
    generate.add_argument(
        "--evaluate-rows",
        type=_positive,
        metavar="N",
        help="rows that --evaluate asks at most, evenly spaced (default: 1000)",
    )
    budget = generate.add_argument_group(
        "budget", "search the most accurate form that fits: bits of each weight, bits of embeddings, pruning"
    )
    budget.add_argument("--max-flash", type=_size, metavar="SIZE", help="tables and code: 512K, 1M or bytes")
    budget.add_argument("--max-ram", type=_size, metavar="SIZE", help="arena, stack budget and variables")
    budget.add_argument("--max-stack", type=_size, metavar="SIZE", help="the model's stack budget")
    budget.add_argument(
        "--min-accuracy", type=_share, metavar="X", help="fail below this share of right answers (or correlation)"
    )
    budget.add_argument(
        "--min-tokens", type=_positive, metavar="N", help="texts may be cut at so few tokens (default: at no fewer)"
    )
    budget.add_argument(
        "--board", choices=boards(), help="for m-profile: whose firmware --build links (default: netduinoplus2)"
    )
    generate.add_argument("--label-column", metavar="C", help="number from 1, or name (default: 1)")
    generate.add_argument("--text-columns", metavar="A,B", help="default: all but the label's")
    header = generate.add_mutually_exclusive_group()
    header.add_argument("--header", action="store_true", default=None, help="the first row holds names")
    header.add_argument("--no-header", action="store_false", dest="header")

    inspect = commands.add_parser("inspect", help="what a checkpoint folder holds; writes nothing", allow_abbrev=False)
    inspect.add_argument("folder", type=Path, metavar="FOLDER")

    verify = commands.add_parser("verify", help="compare a built model with a float64 reference", allow_abbrev=False)
    verify.add_argument("directory", type=Path, metavar="DIR", help="generated folder")
    verify.add_argument("--checkpoint", type=Path, required=True, metavar="FOLDER")
    verify.add_argument("--texts", type=Path, metavar="FILE", help="texts, one a line (default: the golden texts)")

    verify.add_argument("--calibrate", type=Path, metavar="FILE", help="what the model was calibrated on")

    bundle = commands.add_parser("bundle", help="model and runtime as plain files", allow_abbrev=False)
    bundle.add_argument("directory", type=Path, metavar="DIR", help="generated folder")
    bundle.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder to write")
    return parser


def _tables_asked_for(arguments: argparse.Namespace) -> dict[str, Any]:
    """The parts of a Request that read files of texts; wrong combinations are refused."""
    from .pipeline import Evaluate, Prune
    from .table_file import Columns

    def need(option: str, given: object, other: str, condition: bool) -> None:
        if given is not None and not condition:
            raise EtchError("option-incomplete", "arguments", f"{option} needs {other}")

    corpus, table = arguments.prune_vocabulary, arguments.evaluate
    limits = _limits(arguments)
    need("--prune-vocabulary", corpus, "--min-count", arguments.min_count is not None or limits is not None)
    need("--min-count", arguments.min_count, "--prune-vocabulary", corpus is not None)
    need("--rare-words", arguments.rare_words, "--prune-vocabulary", corpus is not None)
    for option in ("min_accuracy", "min_tokens", "board"):
        need(
            f"--{option.replace('_', '-')}", getattr(arguments, option), "--max-flash or --max-ram", limits is not None
        )
    need("--evaluate-rows", arguments.evaluate_rows, "--evaluate", table is not None)
    for option in ("label_column", "text_columns", "header"):
        given = getattr(arguments, option)
        need(f"--{option.replace('_', '-')}", given, "--evaluate or --prune-vocabulary", bool(corpus or table))
    texts = arguments.text_columns
    columns = Columns(
        arguments.label_column or "1", None if texts is None else tuple(texts.split(",")), arguments.header
    )
    asked: dict[str, Any] = {"columns": columns, "limits": limits, "board": arguments.board}
    if corpus is not None:
        asked["prune"] = Prune(corpus, arguments.min_count, arguments.rare_words)
    if table is not None:
        asked["evaluate"] = (
            Evaluate(table) if arguments.evaluate_rows is None else Evaluate(table, arguments.evaluate_rows)
        )
    return asked


def _limits(arguments: argparse.Namespace) -> Limits | None:
    from .budget import Limits

    sizes = arguments.max_flash, arguments.max_ram, arguments.max_stack
    if all(size is None for size in sizes):
        return None
    return Limits(*sizes, arguments.min_accuracy, arguments.min_tokens)


def run(arguments: argparse.Namespace) -> int:
    """Runs a parsed command; returns its exit code."""
    # Imported here so that --help and wrong flags answer at once.
    from . import pipeline

    if arguments.command == "generate":
        pipeline.generate(
            pipeline.Request(
                folder=arguments.folder,
                out=arguments.out,
                name=arguments.name,
                recipe=arguments.recipe,
                embedding_bits=arguments.embedding_bits,
                bits=arguments.bits,
                calibrate=arguments.calibrate,
                max_tokens=arguments.max_tokens,
                tables=arguments.tables,
                target=arguments.target,
                build=arguments.build,
                **_tables_asked_for(arguments),
            ),
            print,
        )
        return 0
    if arguments.command == "inspect":
        from .inspect import inspect

        inspect(arguments.folder, print)
        return 0
    if arguments.command == "bundle":
        from .bundle import bundle

        bundle(arguments.directory, arguments.out, print)
        return 0
    from .verify import verify

    try:
        return verify(
            arguments.directory, arguments.checkpoint, arguments.texts, print, calibration=arguments.calibrate
        )
    except EtchError as error:
        if error.stage == "verify":
            return _fail(str(error), WRONG_USE)
        raise


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 done, 1 refused or failed, 2 wrong use, 128 + n stopped by signal n (130: Ctrl-C)."""
    # NumPy reads this when it is imported, for some arguments while they are read. Its products here are small: more
    # threads wait for each other more than they multiply, three times as long where other programs run.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _prepare_stdout()
    stopped = _watch_signals()
    arguments = make_parser().parse_args(argv)
    try:
        code = run(arguments)
        sys.stdout.flush()
        if argv is None:
            _ignore_signals()
        return code
    except EtchError as error:
        if error.detail:
            sys.stderr.write(error.detail + "\n")
        return _fail(str(error), WRONG_USE if error.stage == "arguments" else 1)
    except BrokenPipeError:
        _release_stdout()
        return 1
    except KeyboardInterrupt:
        return _stopped_by(stopped)
    except MemoryError:
        return _fail("error[out-of-memory] the checkpoint does not fit into memory", 1)
    except OSError as error:
        _release_stdout()
        place = "" if error.filename is None else f": {error.filename}"
        return _fail(f"error[system] {error.strerror or error}{place}", 1)
    except ImportError as error:
        if stopped:
            return _stopped_by(stopped)
        return _fail(f"error[python-package-missing] {error}: pip install --no-deps -r {_requirements()}", 1)
    except Exception as error:
        # A bug of ours; a user still gets one line.
        return _fail(f"error[internal] {type(error).__name__}: {error}: please report this", 1)


def _prepare_stdout() -> None:
    """A closed stdout is like /dev/null, and what a terminal's encoding lacks is escaped: neither stops the work."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _watch_signals() -> list[int]:
    """Grows with every signal: libraries turn the KeyboardInterrupt into an ImportError while they are imported."""
    seen: list[int] = []

    def stop(number: int, _: object) -> NoReturn:
        seen.append(number)
        raise KeyboardInterrupt

    for number in SIGNALS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):  # not where the caller ignores it
            signal.signal(number, stop)
    return seen


def _ignore_signals() -> None:
    """All is done and this process ends: Python gives signals their default actions back before that, which kill."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _stopped_by(signals: list[int]) -> int:
    number = signals[0] if signals else signal.SIGINT
    return _fail("interrupted" if number == signal.SIGINT else "stopped", 128 + number)


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
