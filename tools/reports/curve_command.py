# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/curve. Exit codes: 0 done, 2 wrong use or a command that failed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from codegen.building.build import boards
from codegen.errors import EtchError, printable
from tools.support.options import OptionParser

from .curve import Request, described, measure, read_curve, write_curve
from .curve_svg import curve_svg


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    try:
        if options.drawn is not None:
            curve = read_curve(options.drawn)
        else:
            given = (options.checkpoint, options.limits.split(","), options.max_ram, options.corpus, options.judge)
            request = Request(*given, options.test, options.board, options.out)
            curve = measure(request, lambda line: print(line, flush=True))
        for point in curve.points:
            print(f"{point.limit:>6}  {described(point)}, {point.pieces:,} pieces")
        for limit, said in curve.refused:
            print(f"{limit:>6}  {printable(said)}")
        if options.json is not None:
            options.json.write_text(write_curve(curve), encoding="utf-8")
        if options.svg is not None:
            options.svg.write_text(curve_svg(curve), encoding="utf-8")
    except EtchError as error:
        sys.stderr.write(f"curve: error[{error.code}] {printable(error.message, 2000)}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"curve: error[cannot-write] {error.filename}: {error.strerror}\n")
        return 2
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = OptionParser("curve")
    parser.add_argument("checkpoint", type=Path, nargs="?", metavar="CHECKPOINT")
    parser.add_argument("--limits", default="1M,768K,512K,384K,256K")
    parser.add_argument("--max-ram", default="96K")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--test", type=Path)
    parser.add_argument("--board", choices=boards(), default="netduinoplus2")
    parser.add_argument("--out", type=Path, default=Path("build/curve"))
    parser.add_argument("--from", dest="drawn", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args(arguments)
    needed = (options.checkpoint, options.corpus, options.judge, options.test)
    if (options.drawn is None) == (None in needed) or (options.drawn is not None and any(needed)):
        parser.error("give either --from FILE, or CHECKPOINT with --corpus, --judge and --test")
    for name in ("checkpoint", "corpus", "judge", "test", "out"):  # what runs with them is started in another folder
        path = getattr(options, name)
        setattr(options, name, path and path.absolute())
    return options
