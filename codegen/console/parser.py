# SPDX-License-Identifier: Apache-2.0
"""An argument parser whose refusals are one line of the command that was meant."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from ..errors import printable

WRONG_USE = 2


class Parser(argparse.ArgumentParser):
    """Exits with WRONG_USE. A misspelled option is named before those that it leaves out."""

    _given: Sequence[str] = ()

    def parse_known_args(  # type: ignore[override]  # one form of the base's three
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """All of them, or none: what a command does not know is its own refusal, not that of `etch`."""
        self._given = sys.argv[1:] if args is None else args
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        """Says it, and where help is."""
        options = self._option_string_actions
        words = (word.split("=")[0] for word in self._given)
        unknown = next((word for word in words if word.startswith("--") and word not in options), None)
        if unknown is not None and ("required" in message or "unrecognized" in message):
            near = difflib.get_close_matches(unknown[2:], [option[2:] for option in options], 1, cutoff=0.65)
            message = f"unrecognized arguments: {unknown}" + (f", did you mean --{near[0]}?" if near else "")
        sys.stderr.write(f"{self.prog}: {printable(message)} (see {self.prog} --help)\n")
        raise SystemExit(WRONG_USE)
