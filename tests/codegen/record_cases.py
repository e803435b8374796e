# SPDX-License-Identifier: Apache-2.0
"""The run of a script that records cases by their names, with the libraries that it pins."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

Case = TypeVar("Case")


def check_installed(pinned: Mapping[str, str]) -> None:
    """SystemExit where a package has another version than the pinned one, of whatever build (`2.15.0+cpu`)."""
    for package, expected in pinned.items():
        if version(package).partition("+")[0] != expected:
            raise SystemExit(f"{package} {version(package)} is installed, {expected} is needed")


def record_cases(
    what: str,
    pinned: Mapping[str, str],
    cases: Mapping[str, Case],
    record: Callable[[str, Case, Path], None],
    out: Path,
) -> None:
    """Records the cases that the command line names, or all, each into a folder of its name in `--out`, usually
    `out`; `what` says what is recorded."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("cases", nargs="*", metavar="NAME")
    parser.add_argument("--out", type=Path, default=out, metavar="DIR")
    arguments = parser.parse_args()
    check_installed(pinned)
    for name in arguments.cases or cases:
        record(name, cases[name], arguments.out / name)
