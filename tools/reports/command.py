# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/report. Exit codes: 0 done, 1 a check failed, 2 wrong use or a file that cannot be read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from codegen.errors import EtchError, printable

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
    parser = argparse.ArgumentParser(prog="tools/report", description="what a linked program with a model in it holds")
    parser.add_argument("elf", type=Path, nargs="?", metavar="ELF", help="a linked program: x86-64, AArch64 or ARM")
    parser.add_argument(
        "--board", metavar="NAME", help="instead: build a board's firmware, run it under emulation, ask for its stack"
    )
    parser.add_argument(
        "--model", type=Path, metavar="DIR", action="append", default=[], help="the generated folder of a model in it"
    )
    parser.add_argument("--map", type=Path, metavar="FILE", help="the linker's map (default: ELF.map)")
    parser.add_argument("--stack", type=Path, metavar="FILE", help="what tools/stack computed (default: in the build)")
    parser.add_argument("--painted", type=_count, metavar="BYTES", help="stack that a run on the board has used")
    parser.add_argument("--symbols", type=_count, metavar="N", default=15, help="list the N largest (default: 15)")
    parser.add_argument("--json", action="store_true", help="everything, every symbol, as one JSON object")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also draw flash, and RAM over the ops")
    options = parser.parse_args(arguments)
    if (options.elf is None) == (options.board is None):
        parser.error("give either ELF or --board NAME")
    if options.board and options.painted is not None:
        parser.error("--board measures what --painted would say")
    return options


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value
