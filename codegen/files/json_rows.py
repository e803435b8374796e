# SPDX-License-Identifier: Apache-2.0
"""Rows of a .jsonl file: an object a line, all with the same names, of strings and numbers. The programs read the same
(tools/cli/tables/json_rows.cpp)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from ..errors import EtchError, printable

STAGE = "evaluate"
MAX_NAMES = 1000
_SHOWN = 40
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def split_objects(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """First the names of the first object, then of each object its line and values, in the order of these names. A
    number is the characters that stand for it, an array of strings or numbers its elements with `;` between. Empty
    lines are no rows."""
    names: list[str] | None = None
    for line, each in enumerate(text.split("\n"), 1):
        if each.strip(" \t\r"):
            row = _object(each, path, line)
            if names is None:
                names = list(row)
                yield line, names
            for name in names:
                if name not in row:
                    _refuse(path, line, f"there is no '{printable(name, _SHOWN)}', which the first object has")
            if len(row) > len(names):
                extra = next(name for name in row if name not in names)
                _refuse(path, line, f"there is a '{printable(extra, _SHOWN)}', which the first object has not")
            yield line, [row[name] for name in names]


def _object(text: str, path: Path, line: int) -> dict[str, str]:
    def pairs(members: list[tuple[str, Any]]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in members:
            if name in found:
                _refuse(path, line, f"'{printable(name, _SHOWN)}' is there twice")
            found[name] = value
        return found

    def number(constant: str) -> NoReturn:
        _refuse(path, line, f"{constant} is not JSON")

    try:
        row = json.loads(
            text, object_pairs_hook=pairs, parse_int=_Number, parse_float=_Number, parse_constant=number, strict=True
        )
    except (json.JSONDecodeError, RecursionError):
        _refuse(path, line, "this is not a JSON object")
    if not isinstance(row, dict) or not row:
        _refuse(path, line, "this is not a JSON object with names")
    if len(row) > MAX_NAMES:
        _refuse(path, line, f"there are more than {MAX_NAMES} names, the most that are read")
    return {name: _value(name, value, path, line) for name, value in row.items()}


class _Number(str):
    """A number as it is written."""


def _value(name: str, value: Any, path: Path, line: int) -> str:
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, str) for part in parts):
        _refuse(path, line, f"'{printable(name, _SHOWN)}' is no string, number or array of them")
    return without_lone_surrogates(";".join(parts))


def without_lone_surrogates(text: str) -> str:
    """JSON may spell them, UTF-8 cannot: each is a replacement character."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _refuse(path: Path, line: int, problem: str) -> NoReturn:
    raise EtchError("table-malformed", STAGE, f"line {line}: {problem}", file=path.name)
