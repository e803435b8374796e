# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch fetch`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..console.argument_types import place
from ..console.subcommand import Subcommand
from ..load.hub_name import HubName
from ..process.progress import say


def _take(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "repository",
        type=_repository,
        metavar="OWNER/NAME[@REVISION]",
        help="a branch, a tag or a commit; default: main",
    )
    parser.add_argument("--out", type=place, metavar="DIR", help="folder to write (default: NAME, in this folder)")


def _do(arguments: argparse.Namespace) -> None:
    from .repository import fetch

    fetch(arguments.repository, arguments.out or Path(arguments.repository.name), say)


def _repository(text: str) -> HubName:
    found = HubName.parse(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not OWNER/NAME or OWNER/NAME@REVISION")
    return found


COMMAND = Subcommand(
    "fetch",
    "a repository of the Hugging Face Hub to a folder",
    "Downloads what etch reads of a repository, with huggingface_hub (pip install 'huggingface_hub>=1.0'), and prints "
    "the SHA-256 of each file. All other commands work without a network.",
    _take,
    _do,
)
