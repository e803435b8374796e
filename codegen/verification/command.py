# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch verify`."""

from __future__ import annotations

import argparse

from ..console.argument_types import place
from ..console.subcommand import Subcommand, take_compared
from ..console.table_options import own_columns
from ..process.progress import say


def _take(verify: argparse.ArgumentParser) -> None:
    take_compared(verify)
    verify.add_argument("--texts", type=place, metavar="FILE", help="texts, one a line (default: the golden texts)")
    verify.add_argument(
        "--tokenizer-certificate",
        type=place,
        metavar="FILE",
        help="instead: write down how the tokens of all --texts compare with those of the folder's own tokenizer",
    )


def _import() -> None:
    from . import certificate, verify  # noqa: F401


def _do(arguments: argparse.Namespace) -> int:
    from .certificate import certify
    from .verify import verify

    folders = arguments.directory, arguments.checkpoint, arguments.texts
    if arguments.tokenizer_certificate is not None:
        return certify(*folders, arguments.tokenizer_certificate, say, heads=arguments.head)
    return verify(
        *folders,
        say,
        calibration=arguments.calibrate,
        columns=own_columns(arguments.calibrate_columns),
        smoothing=arguments.smooth,
        smooth_columns=own_columns(arguments.smooth_columns),
        heads=arguments.head,
    )


COMMAND = Subcommand(
    "verify", "compare a built model with a float64 reference", None, _take, _do, imports=_import, compares=True
)
