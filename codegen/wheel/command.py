# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch wheel`."""

from __future__ import annotations

import argparse

from ..console.subcommand import Subcommand, take_model_and_place
from ..process.progress import say


def _do(arguments: argparse.Namespace) -> None:
    from .wheel import make_wheel

    make_wheel(arguments.directory, arguments.out, say)


COMMAND = Subcommand(
    "wheel",
    "a generated model as a Python package",
    "Builds a shared library of the model and packs it as NAME-VERSION-py3-none-PLATFORM.whl: pip installs it "
    "where there is no compiler, for any Python from 3.10 on, with NumPy.",
    take_model_and_place,
    _do,
)
