# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/report. Exit codes: 0 done, 1 a check failed, 2 wrong use or a file that cannot be read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from codegen.errors import EtchError, printable
from tools.support.options import OptionParser

from .board import built_and_painted
from .json_form import json_of
from .report import Request, make_report
from .svg import svg_of
from .text import text_of


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    try:
        elf, painted = built_and_painted(options.board) if options.board else (options.elf, options.painted)
        report = make_report(Request(elf, options.model, options.map, options.stack, painted))
    except EtchError as error:
        sys.stderr.write(f"report: error[{error.code}] {printable(error.message, 2000)}\n")
        return 2
    if options.svg is not None:
        try:
            options.svg.write_text(svg_of(report), encoding="utf-8")
        except OSError as error:
            sys.stderr.write(f"report: error[cannot-write] {options.svg}: {error.strerror}\n")
            return 2
    sys.stdout.write(json_of(report) if options.json else text_of(report, options.symbols))
    return 0 if report.passed else 1


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = OptionParser("report")
    parser.add_argument("elf", type=Path, nargs="?", metavar="ELF")
    parser.add_argument("--board")
    parser.add_argument("--model", type=Path, action="append", default=[])
    parser.add_argument("--map", type=Path)
    parser.add_argument("--stack", type=Path)
    parser.add_argument("--painted", type=_count)
    parser.add_argument("--symbols", type=_count, default=15)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args(arguments)
    if (options.elf is None) == (options.board is None):
        parser.error("give either ELF or --board NAME")
    if options.board and options.painted is not None:
        parser.error("--board measures what --painted would say")
    return options


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number below 10^9")
    return int(text)
