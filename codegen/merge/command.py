# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch merge`."""

from __future__ import annotations

import argparse

from ..console.argument_types import place
from ..console.subcommand import Subcommand
from ..process.progress import say


def _take(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("adapter", type=place, metavar="ADAPTER", help="folder with adapter_config.json, as PEFT saves")
    parser.add_argument("base", type=place, metavar="BASE", help="checkpoint folder it was trained beside")
    parser.add_argument("--out", type=place, required=True, metavar="DIR", help="folder to write")
    parser.add_argument(
        "--labels", metavar="A,B", help="names of the classes, in their order (default: as config.json has them)"
    )


def _do(arguments: argparse.Namespace) -> None:
    from .folder import merge

    labels = None if arguments.labels is None else tuple(arguments.labels.split(","))
    merge(arguments.adapter, arguments.base, arguments.out, labels, say)


COMMAND = Subcommand(
    "merge",
    "a LoRA adapter (PEFT) into its checkpoint",
    "Writes a folder with the files of BASE, whose weights are changed as ADAPTER says, and the head and the tokenizer "
    "that come with ADAPTER. PyTorch and PEFT are not needed.",
    _take,
    _do,
)
