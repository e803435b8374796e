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
from .building.build import boards
from .console import argument_types as types
from .console.length_options import add_languages, add_lengths
from .console.model_types import ModelTypes
from .console.parser import WRONG_USE, Parser
from .console.subcommand import take_heads
from .console.table_options import add_columns, add_tables, columns, own_columns, tables_asked_for
from .convert.command import COMMAND as CONVERT
from .errors import EtchError, printable
from .evidence.command import COMMAND as EVIDENCE
from .fetch.command import COMMAND as FETCH
from .process.interrupts import Stops, stoppable
from .process.progress import listening, say, standard_listener
from .shells.command import Completion, Manual
from .sqlite.command import COMMAND as SQLITE
from .web.command import COMMAND as WEB
from .wheel.command import COMMAND as WHEEL

TASKS = ("zero-shot", "summarize", "sparse")  # what asked_task.py knows
PACKAGE_FORMATS = ("arduino", "cmsis-pack", "esp-idf", "platformio", "zephyr")  # packages.FORMATS
POOLINGS = ("mean", "cls", "max", "last")  # load.bare_encoder's, which needs NumPy: --help does not
# Commands whose arguments are read beside what they do.
COMMANDS = (CONVERT, FETCH, WHEEL, SQLITE, WEB, EVIDENCE, Completion, Manual)
# Those that --quiet goes with.
QUIETLY = ("generate", "verify", "bundle", "convert", "fetch", "wheel", "sqlite", "web", "evidence")


# Those that are like `diff`: 1 says that something differs, 2 that it could not be compared.
COMPARING = ("verify", "evidence")


def _add_budget(generate: argparse.ArgumentParser) -> None:
    """What the search for a form that fits is told."""
    budget = generate.add_argument_group(
        "budget", "search the most accurate form that fits: bits of each weight, bits of embeddings, pruning"
    )
    budget.add_argument("--max-flash", type=types.size, metavar="SIZE", help="tables and code: 512K, 1M or bytes")
    budget.add_argument("--max-ram", type=types.size, metavar="SIZE", help="arena, stack budget and variables")
    budget.add_argument("--max-stack", type=types.size, metavar="SIZE", help="the model's stack budget")
    budget.add_argument(
        "--min-accuracy", type=types.share, metavar="X", help="fail below this share of right answers (or correlation)"
    )
    budget.add_argument(
        "--min-tokens",
        type=types.positive,
        metavar="N",
        help="the longest text may be shortened to as few as N tokens (default: never)",
    )
    budget.add_argument(
        "--board",
        type=types.board,
        choices=boards(),
        # An installed package has no firmware-demo.
        help="for m-profile: whose firmware --build links (default: netduinoplus2)" if boards() else argparse.SUPPRESS,
    )


def _add_writing(generate: argparse.ArgumentParser) -> None:
    """Of models that write texts."""
    generate.add_argument(
        "--beams", type=int, metavar="K", help="of a search, 1 to 8; 1 is greedy (default: what the checkpoint says)"
    )
    add_languages(generate)


def _add_regions(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument(
        "--region", action="append", type=types.room, default=[], metavar="NAME=SIZE[,COST]", help=what
    )


def _add_texts(generate: argparse.ArgumentParser) -> None:
    """That decide bytes of a model."""
    generate.add_argument(
        "--calibrate",
        type=Path,
        metavar="FILE",
        help="round 4-bit weights by what they multiply in these texts, one a line or a row of a table (GPTQ)",
    )
    generate.add_argument(
        "--smooth",
        type=Path,
        metavar="FILE",
        help="move outlier channels of activations from norms into weights, measured on these texts, as for "
        "--calibrate (SmoothQuant)",
    )


def _add_inspect(commands: argparse._SubParsersAction[Parser]) -> None:
    inspect = commands.add_parser("inspect", help="what a checkpoint folder holds; writes nothing", allow_abbrev=False)
    inspect.add_argument("folder", type=Path, metavar="FOLDER", help="Hugging Face checkpoint folder")
    inspect.add_argument("--pooling", choices=POOLINGS, help="as for generate")
    inspect.add_argument("--task", choices=TASKS, help="as for generate")
    add_lengths(inspect)
    add_languages(inspect)
    _add_regions(inspect, "as for generate: what would lie in each region, and how large it would be")
    inspect.add_argument("--json", action="store_true", help="the same as one JSON object")
    inspect.add_argument("--model-types", action=ModelTypes, help="print the supported model types, and exit")


def make_parser() -> argparse.ArgumentParser:
    """Of every command."""
    parser = Parser(prog="etch", description="Turns a transformer checkpoint into static C++.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"etch {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)

    generate = commands.add_parser("generate", help="checkpoint folder to C++ sources", allow_abbrev=False)
    generate.add_argument("folder", type=Path, metavar="FOLDER", help="Hugging Face checkpoint folder")
    generate.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    generate.add_argument("--name", help="model name: namespace, files, symbols (default: from the name of DIR)")
    generate.add_argument(
        "--recipe",
        choices=("w8a8", "w7a8", "w4a8", "fp32"),
        default="w8a8",
        help="8-bit weights and activations (default); weights of linears in 7 bits, faster with AVX2; in 4 bits, in "
        "groups of 32; or float, the reference for accuracy",
    )
    generate.add_argument(
        "--embedding-bits", type=int, choices=(8, 4), default=8, help="of word and position tables; default: 8"
    )
    generate.add_argument(
        "--bits",
        type=types.bits,
        default={},
        metavar="PLACE=N,...",
        help="8 or 4 bits for single weights: intermediate=4 in all layers, 2.intermediate=4 in layer 2; inspect lists "
        "the places",
    )
    _add_texts(generate)
    add_lengths(generate)
    generate.add_argument(
        "--pooling",
        choices=POOLINGS,
        help="how rows of tokens become an embedding, of an encoder without modules.json; not normalized",
    )
    generate.add_argument(
        "--task",
        choices=TASKS,
        help="override the folder's task: zero-shot, labels given at call time (classifiers of entailment), "
        "summarize (sequence-to-sequence models), or sparse, weights of words as by SPLADE (masked language models)",
    )
    take_heads(generate)
    _add_writing(generate)
    generate.add_argument(
        "--tables", choices=("c", "incbin"), default="incbin", help="C++ arrays, or one binary file (default)"
    )
    generate.add_argument(
        "--target",
        choices=("host", "m-profile"),
        default="host",
        help="weight layout for x86 and AArch64 (default), or for Cortex-M",
    )
    what = "memory for buffers, once for each, the cheapest first and the workspace's last: fast=64K, slow=256K; COST "
    _add_regions(generate, what + "of a byte that is touched there (default: 1, 2, 4, ...)")
    generate.add_argument(
        "--table-region",
        action="append",
        type=types.table_place,
        default=[],
        metavar="NAME=SIZE[,COST][,copied]",
        help="memory for tables, once for each, the cheapest first: a section .rodata.etch_MODEL.NAME, or with copied "
        "RAM in .bss.etch_MODEL.NAME that copy_tables() fills from the last one; COST as for --region",
    )
    generate.add_argument(
        "--gpu", action="store_true", help="also the sources for NVIDIA GPUs (CMake option ETCH_CUDA)"
    )
    generate.add_argument(
        "--build",
        action="store_true",
        help="build library and program in DIR/build/bin; what is the same for all models is compiled once, in "
        "~/.cache/etch (ETCH_CACHE: another folder, or off)",
    )
    add_tables(generate, types.positive)
    _add_budget(generate)
    add_columns(generate)

    _add_inspect(commands)

    verify = commands.add_parser("verify", help="compare a built model with a float64 reference", allow_abbrev=False)
    verify.add_argument("directory", type=Path, metavar="DIR", help="generated folder")
    verify.add_argument("--checkpoint", type=Path, required=True, metavar="FOLDER", help="what it was generated from")
    take_heads(verify)
    verify.add_argument("--texts", type=Path, metavar="FILE", help="texts, one a line (default: the golden texts)")

    verify.add_argument("--calibrate", type=Path, metavar="FILE", help="what the model was calibrated on")
    verify.add_argument("--calibrate-columns", type=columns, metavar="A,B", help="as for generate")
    verify.add_argument("--smooth", type=Path, metavar="FILE", help="what the model was smoothed by")
    verify.add_argument("--smooth-columns", type=columns, metavar="A,B", help="as for generate")
    verify.add_argument(
        "--tokenizer-certificate",
        type=Path,
        metavar="FILE",
        help="instead: write down how the tokens of all --texts compare with those of the folder's own tokenizer",
    )

    bundle = commands.add_parser("bundle", help="model and runtime as plain files", allow_abbrev=False)
    bundle.add_argument("directory", type=Path, metavar="DIR", help="generated folder")
    bundle.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder to write")
    bundle.add_argument("--format", choices=PACKAGE_FORMATS, help="instead: what this tool takes, with an example")
    for command in COMMANDS:
        command.add_to(commands)
    for name in QUIETLY:
        quiet = "print errors only; the exit code says the rest"
        commands.choices[name].add_argument("--quiet", action="store_true", help=quiet)
    return parser


def run(arguments: argparse.Namespace, stops: Stops) -> int:
    """Runs a parsed command; returns its exit code."""
    own = next((command for command in COMMANDS if arguments.command == command.NAME), None)
    if own is not None:
        stops.watch()
        return own.run(arguments)
    # Imported here so that --help and wrong flags answer at once.
    from . import pipeline
    from .bundle.bundle import bundle
    from .console.inspect import Question, inspect
    from .request import Request
    from .verification.certificate import certify
    from .verification.verify import verify

    stops.watch()
    if arguments.command == "generate":
        pipeline.generate(
            Request(
                folder=arguments.folder,
                out=arguments.out,
                name=arguments.name,
                recipe=arguments.recipe,
                embedding_bits=arguments.embedding_bits,
                bits=arguments.bits,
                calibrate=arguments.calibrate,
                smooth=arguments.smooth,
                max_tokens=arguments.max_tokens,
                max_target=arguments.max_target,
                pooling=arguments.pooling,
                task=arguments.task,
                beams=arguments.beams,
                languages=arguments.languages,
                heads=tuple(arguments.head),
                rooms=tuple(arguments.region),
                table_places=tuple(arguments.table_region),
                tables=arguments.tables,
                target=arguments.target,
                gpu=arguments.gpu,
                build=arguments.build,
                **tables_asked_for(arguments),
            ),
            say,
        )
        return 0
    if arguments.command == "inspect":
        question = Question(
            folder=arguments.folder,
            pooling=arguments.pooling,
            task=arguments.task,
            max_tokens=arguments.max_tokens,
            max_target=arguments.max_target,
            languages=arguments.languages,
            rooms=tuple(arguments.region),
        )
        inspect(question, say, as_json=arguments.json)
        return 0
    if arguments.command == "bundle":
        bundle(arguments.directory, arguments.out, say, arguments.format)
        return 0
    if arguments.tokenizer_certificate is not None:
        return certify(
            arguments.directory,
            arguments.checkpoint,
            arguments.texts,
            arguments.tokenizer_certificate,
            say,
            heads=arguments.head,
        )
    return verify(
        arguments.directory,
        arguments.checkpoint,
        arguments.texts,
        say,
        calibration=arguments.calibrate,
        columns=own_columns(arguments.calibrate_columns),
        smoothing=arguments.smooth,
        smooth_columns=own_columns(arguments.smooth_columns),
        heads=arguments.head,
    )


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
        wrong = WRONG_USE if arguments.command in COMPARING else 1
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
