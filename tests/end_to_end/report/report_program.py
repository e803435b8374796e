# SPDX-License-Identifier: Apache-2.0
"""Runs tools/report as a user does, and asks binutils for the same figures."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT, tool


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    def check(self, name: str) -> dict[str, Any]:
        """The check of the JSON report whose name begins so."""
        return next(check for check in self.json["checks"] if check["name"].startswith(name))


def report(*arguments: str | Path, cwd: Path | None = None) -> Outcome:
    pytest.importorskip("elftools", reason="pyelftools is not installed: tools/report and tools/test install it")
    done = subprocess.run(
        [ROOT / "tools" / "report", *arguments], capture_output=True, text=True, timeout=300, cwd=cwd, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def refused(code: str, *arguments: str | Path) -> str:
    """The message of a refusal: one line, and nothing else was printed."""
    outcome = report(*arguments)
    assert (outcome.code, outcome.out) == (2, ""), outcome
    lines = outcome.err.splitlines()
    assert len(lines) == 1, outcome.err
    assert lines[0].startswith(f"report: error[{code}] "), outcome.err
    return lines[0]


def sizes(binutils: str, elf: Path) -> dict[str, int]:
    """Sections as `size -A` tells them."""
    done = subprocess.run([tool(f"{binutils}size"), "-A", elf], capture_output=True, text=True, check=True, timeout=60)
    return {name: int(size) for name, size in re.findall(r"^(\S+) +(\d+) +\d+$", done.stdout, re.MULTILINE)}


def loaded(binutils: str, elf: Path) -> tuple[int, int]:
    """Bytes of the file that are loaded, and bytes that may be written to at run time, as readelf tells them."""
    command = [tool(f"{binutils}readelf"), "-SW", elf]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    pattern = r"^ *\[ *\d+\] \S+ +(\S+) +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Za-z]+) "
    rows = [(kind, int(size, 16), flags) for kind, size, flags in re.findall(pattern, done.stdout, re.MULTILINE)]
    flash = sum(size for kind, size, flags in rows if "A" in flags and kind != "NOBITS")
    return flash, sum(size for _, size, flags in rows if "A" in flags and "W" in flags)


def symbol_sizes(binutils: str, elf: Path) -> dict[str, int]:
    """Symbols as `nm -S` tells them."""
    done = subprocess.run([tool(f"{binutils}nm"), "-S", elf], capture_output=True, text=True, check=True, timeout=60)
    found = re.findall(r"^[0-9a-f]+ ([0-9a-f]+) \w (\S+)$", done.stdout, re.MULTILINE)
    return {name: int(size, 16) for size, name in found}


def facts(elf: Path, *arguments: str | Path) -> Outcome:
    return report(elf, "--json", *arguments)
