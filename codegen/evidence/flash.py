# SPDX-License-Identifier: Apache-2.0
"""What of a linked program its loaded bytes are, by symbol, as `nm` of binutils tells it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..building.symbol_names import readable, scope

LARGEST = 25  # symbols that are listed
TABLES, MODEL, RUNTIME, PROGRAM, OTHERS = (
    *("tables of the model", "code of the model", "runtime", "the command-line program"),
    "libraries of the system that are linked in",
)
_KINDS = {"t": "code", "w": "code", "r": "constants", "v": "constants", "d": "initial values"}  # of nm, in lower case
_SECONDS = 60


@dataclass(frozen=True)
class Symbol:
    name: str  # as people read it
    part: str
    kind: str
    count: int  # of this name: templates have several
    bytes: int  # of all of them


@dataclass(frozen=True)
class Flash:
    """Of a program's file."""

    symbols: tuple[Symbol, ...]  # largest first
    bytes: int  # that are loaded, symbols or not

    def parts(self) -> list[tuple[str, int]]:
        """Largest first; what no symbol names is the last."""
        sums: dict[str, int] = {}
        for symbol in self.symbols:
            sums[symbol.part] = sums.get(symbol.part, 0) + symbol.bytes
        named = sorted(sums.items(), key=lambda part: (-part[1], part[0]))
        return [*named, ("without a symbol: start, unwinding, texts, alignment", self.bytes - sum(sums.values()))]


def flash_of(program: Path, manifest: dict[str, Any]) -> Flash | None:
    """None where binutils cannot tell."""
    try:
        listed, sizes = _said("nm", "--print-size", "--defined-only", program), _said("size", program)
    except (OSError, subprocess.SubprocessError):
        return None
    found: dict[str, tuple[str, int, str]] = {}  # by address: a function can have several names
    for line in listed:
        words = line.split()
        if len(words) == 4 and words[2].lower() in _KINDS:
            address, size, kind, name = words
            if found.get(address, (name,))[0] >= name:
                found[address] = name, int(size, 16), _KINDS[kind.lower()]
    names = readable(name for name, _, _ in found.values())
    sums: dict[tuple[str, str, str], list[int]] = {}
    for name, taken, kind in found.values():
        sums.setdefault((names[name], _part(name, manifest), kind), []).append(taken)
    symbols = [Symbol(*key, len(each), sum(each)) for key, each in sums.items()]
    code, data = map(int, sizes[1].split()[:2])
    return Flash(tuple(sorted(symbols, key=lambda symbol: (-symbol.bytes, symbol.name))), code + data)


def _part(name: str, manifest: dict[str, Any]) -> str:
    model, of_c = manifest["name"], f"etch_{manifest['name']}_"
    names = scope(name)
    table = name.removeprefix(of_c) if name.startswith(of_c) else names[-1]
    own = name.startswith(of_c) or names[:2] == ("etch", model)
    if own:
        return TABLES if table in manifest["table_list"] else MODEL
    if names[0] != "etch":
        return PROGRAM if name == "main" else OTHERS
    return PROGRAM if names[1:2] == ("cli",) else RUNTIME


def _said(tool: str, *arguments: str | Path) -> list[str]:
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=True, timeout=_SECONDS)
    return done.stdout.splitlines()
