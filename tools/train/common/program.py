# SPDX-License-Identifier: Apache-2.0
"""What the programs that train have in common: the form of their options, and how they end."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common.refusal import Refused

from codegen.errors import EtchError
from codegen.process.interrupts import run_program


class Defaults(argparse.ArgumentDefaultsHelpFormatter):
    """Says in --help what a value is where it is not given, unless the option's own words have to, as of a file."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        has_value = action.default is not None and action.nargs != 0
        return super()._get_help_string(action) if has_value else action.help


def make_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Without options; --help says their defaults."""
    return argparse.ArgumentParser(
        prog=name,
        description=description,
        allow_abbrev=False,
        formatter_class=Defaults,
    )


def number(kind: type, low: float, high: float) -> Callable[[str], Any]:
    """The type of an option that is a number of such a range."""

    def parse(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"expected a number from {low:g} to {high:g}, got '{text}'")
        return value

    return parse


def add_encoder_options(made: argparse.ArgumentParser, head_width: int, tokens: int) -> None:
    """Those of an encoder that is made anew; `tokens` is how long its texts are where nothing is given."""
    add = made.add_argument
    add(
        "--pieces",
        type=number(int, 8, 1 << 24),
        default=8000,
        metavar="N",
        help="of the vocabulary, those that the texts use most",
    )
    add("--layers", type=number(int, 1, 1000), default=2, metavar="N", help="of the encoder")
    add(
        "--width",
        type=number(int, 1, 1 << 16),
        default=128,
        metavar="N",
        help=f"heads are {head_width} wide, feed-forward layers four widths",
    )
    add(
        "--max-tokens",
        type=number(int, 3, 1 << 16),
        default=tokens,
        metavar="N",
        help="longest text; longer ones are cut",
    )


def add_step_options(made: argparse.ArgumentParser, steps: int, batch: int, rate: float, of: str = "texts") -> None:
    """Those of training in steps, with what they are where nothing is given; a step takes a batch `of` these."""
    add = made.add_argument
    add("--state", type=Path, metavar="FILE", help="keeps the run, so that it can go on (default: DIR.state)")
    add("--steps", type=number(int, 1, 1 << 30), default=steps, metavar="N", help="in all; a kept run goes on to more")
    add("--batch", type=number(int, 1, 4096), default=batch, metavar="N", help=f"{of} a step")
    add(
        "--rate",
        type=number(float, 1e-9, 1.0),
        default=rate,
        metavar="R",
        help="of AdamW, rising and falling as a cosine",
    )


def add_run_options(made: argparse.ArgumentParser) -> None:
    """Those that every run has, behind its own."""
    made.add_argument("--seed", type=number(int, 0, (1 << 32) - 1), default=0, metavar="N", help="of everything random")
    made.add_argument("--threads", type=number(int, 1, 1024), metavar="N", help="PyTorch's choice where not given")


def ended(name: str, run: Callable[[], str]) -> int:
    """Prints what a run says at its end; `run` imports PyTorch. Exit codes: 0 done, 1 refused, 128 + n stopped by
    signal n (130: Ctrl-C)."""
    return run_program(name, lambda: _answered(name, run))


def _answered(name: str, run: Callable[[], str]) -> int:
    try:
        print(run())
        return 0
    except (Refused, EtchError) as error:
        return _fail(name, str(error))
    except OSError as error:
        file = f"{Path(os.fsdecode(error.filename)).name}: " if isinstance(error.filename, str | bytes) else ""
        return _fail(name, f"{file}{error.strerror or error}")
    except ImportError as error:
        return _fail(name, f"{error}; install tools/train/requirements.txt")


def _fail(name: str, message: str) -> int:
    line = " ".join(message.split())
    print(f"{name}: " + "".join(c if c.isprintable() else "?" for c in line), file=sys.stderr)
    return 1
