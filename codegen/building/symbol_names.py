# SPDX-License-Identifier: Apache-2.0
"""Symbols as people read them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable

from ..errors import printable

_NESTED = re.compile(r"_Z(?:T[VTIS]|GV|ZN?)?L?N?[KVrRO]*")


def scope(symbol: str) -> tuple[str, ...]:
    """The qualified name of a C++ symbol up to the first template arguments; a C symbol is itself."""
    begin = _NESTED.match(symbol)
    if begin is None:
        return (symbol,)
    parts: list[str] = []
    rest = symbol[begin.end() :]
    while (length := re.match(r"L?(\d+)", rest)) is not None:
        at = length.end()
        parts.append(rest[at : at + int(length[1])])
        rest = rest[at + int(length[1]) :]
    return tuple("" if part == "_GLOBAL__N_1" else part for part in parts) or (symbol,)


def readable(symbols: Iterable[str]) -> dict[str, str]:
    """Names without arguments and without what all names of etch begin with; as they are where c++filt is missing.
    Control characters are escaped."""
    shown = {name: printable(name) for name in symbols}
    tool = shutil.which("c++filt")
    names = [name for name, text in shown.items() if name == text]
    if tool is None or not names:
        return shown
    text = "".join(f"{name}\n" for name in names)
    done = subprocess.run([tool], input=text, capture_output=True, text=True, check=True, timeout=60)
    return shown | {name: shortened(line) for name, line in zip(names, done.stdout.splitlines(), strict=True)}


def shortened(demangled: str) -> str:
    """`etch::abi1::a::b<int>(char const*) const` -> `a::b`."""
    text = demangled.replace("(anonymous namespace)::", "").replace("operator()", "operator call")
    plain, depth = "", 0
    for character in text:
        depth += character == "<"
        if depth == 0:
            plain += character
        depth -= character == ">" and depth > 0
    plain = plain.split("(", 1)[0].strip()
    special = re.match(r"(vtable|typeinfo|typeinfo name|guard variable) for ", plain)
    name = plain if special or "operator" in plain else plain.rsplit(" ", 1)[-1]
    return re.sub(r"\betch::(?:abi\d+::)?", "", name) or demangled
