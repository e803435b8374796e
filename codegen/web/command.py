# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch web`."""

from __future__ import annotations

import argparse

from ..console.argument_types import place
from ..console.subcommand import Subcommand, take_model
from ..process.progress import say


def _take(parser: argparse.ArgumentParser) -> None:
    take_model(parser)
    parser.add_argument("--out", type=place, required=True, metavar="SITE", help="folder to write")


def _do(arguments: argparse.Namespace) -> None:
    from .site import make_site

    make_site(arguments.directory, arguments.out, say)


COMMAND = Subcommand(
    "web",
    "a generated model as a web page",
    "Builds the model as a module of WebAssembly with vectors and writes a page that answers while one types, "
    "index.html, which needs no server and asks no network, and the same as an ES module with types, for a Web Worker, "
    "too. Needs clang, lld and the headers and libraries of WASI.",
    _take,
    _do,
)
