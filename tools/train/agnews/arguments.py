# SPDX-License-Identifier: Apache-2.0
"""The command lines of this recipe. Needs no packages, so that --help does not either."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def folder_from(variable: str) -> Path:
    """The folder an environment variable names."""
    if variable not in os.environ:
        raise SystemExit(f"set {variable} to the folder described in README.md")
    return Path(os.environ[variable])


def of_make(here: Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Remakes the checkpoint; needs ETCH_DATA and ETCH_MODELS.")
    parser.add_argument("--out", type=Path, default=here / "checkpoint")
    parser.add_argument("--cache", type=Path, default=Path("build/train-agnews"), help="keeps the teacher's answers")
    parser.add_argument("--seed", type=int, default=20)
    return parser.parse_args()


def of_evaluate(here: Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures a checkpoint; needs ETCH_DATA.")
    parser.add_argument("--checkpoint", type=Path, default=here / "checkpoint")
    parser.add_argument("--seed", type=int, default=20, help="the split's")
    parser.add_argument("--test", action="store_true", help="measure on the test rows too")
    return parser.parse_args()
