# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch bundle`."""

from __future__ import annotations

import argparse

from ..console.argument_types import place
from ..console.subcommand import Subcommand, take_model
from ..process.progress import say

PACKAGE_FORMATS = ("arduino", "cmsis-pack", "esp-idf", "platformio", "zephyr")  # packages.FORMATS


def _take(bundle: argparse.ArgumentParser) -> None:
    take_model(bundle)
    bundle.add_argument("--out", type=place, required=True, metavar="FOLDER", help="folder to write")
    bundle.add_argument("--format", choices=PACKAGE_FORMATS, help="instead: what this tool takes, with an example")


def _import() -> None:
    from . import bundle  # noqa: F401


def _do(arguments: argparse.Namespace) -> None:
    from .bundle import bundle

    bundle(arguments.directory, arguments.out, say, arguments.format)


COMMAND = Subcommand("bundle", "model and runtime as plain files", None, _take, _do, imports=_import)
