# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch evidence`."""

from __future__ import annotations

import argparse

from ..console.argument_types import place
from ..console.subcommand import Subcommand, take_compared
from ..process.progress import say


def _take(parser: argparse.ArgumentParser) -> None:
    take_compared(parser)
    parser.add_argument("--texts", type=place, required=True, metavar="FILE", help="texts to compare on, one a line")
    parser.add_argument("--evaluate", type=place, metavar="FILE", help="labelled table: accuracy, by the program")
    parser.add_argument("--label-column", metavar="C", help="of that table, as the program has it")
    parser.add_argument("--text-columns", metavar="A,B", help="likewise")
    parser.add_argument("--labels", metavar="0|1|names|A,B", help="likewise")
    parser.add_argument("--latency", action="store_true", help="also times on this machine")
    parser.add_argument("--out", type=place, required=True, metavar="FILE.html", help="the page to write")


def _do(arguments: argparse.Namespace) -> int:
    """0 where everything that was checked holds, else 1; the page is written all the same."""
    from .collect import collect
    from .request import Request

    options: list[str] = []
    for option in ("label_column", "text_columns", "labels"):
        if (value := getattr(arguments, option)) is not None:
            options += [f"--{option.replace('_', '-')}", value]
    request = Request(
        arguments.directory,
        arguments.checkpoint,
        tuple(arguments.head),
        arguments.texts,
        arguments.evaluate,
        tuple(options),
        arguments.latency,
        arguments.out,
        arguments.calibrate,
        arguments.calibrate_columns,
        arguments.smooth,
        arguments.smooth_columns,
    )
    return collect(request, say)


COMMAND = Subcommand(
    "evidence",
    "what was checked of a model, as one page",
    "Builds the model where it is not, compares it with its float64 reference, runs its self test, and writes one "
    "page of HTML that needs nothing else, and beside it an SBOM, FILE.cdx.json (CycloneDX 1.5). The same input "
    "gives the same bytes, but for --latency.",
    _take,
    _do,
    compares=True,
)
