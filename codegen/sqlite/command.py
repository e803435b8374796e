# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch sqlite`."""

from __future__ import annotations

import argparse

from ..console.subcommand import Subcommand, take_model_and_place
from ..process.progress import say


def _do(arguments: argparse.Namespace) -> None:
    from .extension import make_extension

    make_extension(arguments.directory, arguments.out, say)


COMMAND = Subcommand(
    "sqlite",
    "a generated model as functions of SQL",
    "Builds NAME.so, a loadable extension of SQLite: SELECT classify(text), classify(text, label), regress(text), "
    "embed(text) as a BLOB of float32, cosine(a, b). Each also as NAME_classify and so on.",
    take_model_and_place,
    _do,
)
