# SPDX-License-Identifier: Apache-2.0
"""What --evaluate prints, and that --json says the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from classify_program import Outcome, Program

TOTALS = re.compile(r"rows: (\d+), mean tokens: ([\d.]+), cut to \d+ tokens: (\d+)")


def key_of(name: str) -> str:
    return re.sub("[^a-z0-9]", "_", name.lower())


def evaluated(program: Program, *arguments: str | Path, **keywords: Any) -> tuple[Outcome, dict[str, Any]]:
    """The lines of a well run, and its object: each line `name: value` of the first block is in it."""
    outcome = program.well("--evaluate", *arguments, **keywords)
    (found,) = program.well("--evaluate", *arguments, "--json", **keywords).objects
    for line in outcome.lines:
        if not line:  # tables follow
            break
        if totals := TOTALS.fullmatch(line):
            assert found["rows"] == int(totals[1]) and found["truncated"] == int(totals[3])
            assert found["mean_tokens"] == pytest.approx(float(totals[2]), abs=0.0501)
        elif ", " in line:  # counts of the task's own
            for name, count in (part.rsplit(": ", 1) for part in line.split(", ")):
                assert found["truncated" if "cut" in name else key_of(name)] == int(count), line
        else:
            name, value = line.split(": ")
            given = found[key_of(name)]
            if value == "-":
                assert given is None, line
            elif value.endswith(" %"):
                assert given == pytest.approx(float(value[:-2]) / 100, abs=5.01e-5), line
            else:
                assert given == pytest.approx(float(value), rel=1e-5, abs=5.01e-3 if name in ("BLEU", "chrF") else 0)
    return outcome, found
