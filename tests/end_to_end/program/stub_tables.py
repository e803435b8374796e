# SPDX-License-Identifier: Apache-2.0
"""Tables for the programs over the stub models, and the names of the labels of the one that classifies."""

from __future__ import annotations

from pathlib import Path

# As in stub.hpp; the others have no name.
NAMES = [
    b"zero", b'a"b\\c', b"new\nline\ttab", b"nul\0nul", b"\x1b[31mred", b"bad \xff\xc3", b"caf\xc3\xa9",
    b"Case", b"case", b"9",
    b"\xed\xa0\x80|\xc0\xaf|\xe0\x9f\xbf|\xf4\x90\x80\x80|\xf0\x9f\x98|\xf0\x9f\x98\x80\xe2\x82",
    "\u202etxt.exe\u2066 \u200b\U000e0041 \u200d".encode(),
]  # fmt: skip
LABELS = [*(name.decode("utf-8", "replace") for name in NAMES), *[""] * 10]
RED = "\\x1b[31mred"


def table(folder: Path, content: bytes | str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def accuracy(outcome_lines: list[str]) -> str:
    [line] = [line for line in outcome_lines if line.startswith("accuracy: ")]
    return line
