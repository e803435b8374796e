# SPDX-License-Identifier: Apache-2.0
"""Options that generate and inspect share: what is read of a checkpoint, and where its buffers lie."""

from __future__ import annotations

import argparse

from . import argument_types as types


def add_lengths(command: argparse.ArgumentParser) -> None:
    """Of texts."""
    command.add_argument(
        "--max-source",
        "--max-tokens",
        dest="max_tokens",
        type=types.positive,
        metavar="N",
        help="longest text that is read, specials included; memory grows with it (default: what the checkpoint says)",
    )
    command.add_argument(
        "--max-target",
        type=types.positive,
        metavar="N",
        help="generative models: tokens of the longest text that is written, its end included (default: what the "
        "checkpoint says)",
    )


def add_languages(command: argparse.ArgumentParser) -> None:
    """Which of those that a folder knows."""
    command.add_argument(
        "--languages",
        type=types.languages,
        metavar="FROM,TO",
        help="of a translator of many languages, mBART, NLLB, M2M-100: eng_Latn,fra_Latn or en,fr "
        "(default: what the checkpoint says)",
    )


def add_regions(command: argparse.ArgumentParser, what: str) -> None:
    """`what` is its help."""
    command.add_argument(
        "--region", action="append", type=types.room, default=[], metavar="NAME=SIZE[,COST]", help=what
    )
