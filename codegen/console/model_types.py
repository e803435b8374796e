# SPDX-License-Identifier: Apache-2.0
"""`--model-types`: what config.json may name."""

from __future__ import annotations

import argparse
from typing import Any


class ModelTypes(argparse.Action):
    """Prints them, one a line, and ends the program."""

    def __init__(self, option_strings: list[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **settings)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """The front-ends are imported now: `--help` does without."""
        from ..frontends import FRONT_ENDS

        print("\n".join(sorted(FRONT_ENDS)))
        parser.exit()
