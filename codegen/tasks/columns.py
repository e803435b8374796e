# SPDX-License-Identifier: Apache-2.0
"""What the label column of a table says, read as the programs read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..errors import EtchError, printable
from ..files.table_file import Row, refused

_SHOWN = 40


def label_reader(
    path: Path, labels: Sequence[str], values: Sequence[str], spec: str | None = None
) -> Callable[[str], int | None]:
    """As the programs read --labels `spec`: `0`, `1`, `names`, or names separated by commas in the order of `labels`.
    Without it names if all values are, else numbers: from 0 if a 0 occurs, from 1 if the number of labels does.
    EtchError where neither does and the numbers could be from either."""
    if spec not in (None, "0", "1", "names"):
        labels, count = spec.split(","), len(labels)
        if len(labels) != count:
            message = f"--labels: expected 0, 1, names or {count} names separated by commas, got '{printable(spec)}'"
            raise EtchError("labels-unknown", "arguments", message)
    exact = {name: i for i, name in reversed(list(enumerate(labels)))}
    loose = {_lower(name): i for i, name in reversed(list(enumerate(labels)))}

    def by_name(value: str) -> int | None:
        return exact.get(value, loose.get(_lower(value)))

    found = [number for number in map(_number, values) if number is not None]
    if spec not in (None, "0", "1"):
        return by_name
    if spec is None and (not found or all(by_name(value) is not None for value in values)):
        return by_name
    if spec is None and len(found) == len(values) and 1 <= min(found) <= max(found) < len(labels):
        message = f"the labels are numbers up to {max(found)} of {len(labels)}, from 0 or from 1: say --labels 0 or 1"
        raise EtchError("labels-ambiguous", "arguments", message, file=path.name)
    base = int(spec) if spec is not None else 0 if 0 in found else 1

    def by_number(value: str) -> int | None:
        number = _number(value)
        return number - base if number is not None and 0 <= number - base < len(labels) else None

    return by_number


def label_index(path: Path, row: Row, find: Callable[[str], int | None], value: str) -> int:
    """EtchError where it is no label."""
    label = find(value)
    if label is None:
        may_be_names = row.line == 1 and ".jsonl" not in path.suffixes
        hint = " (--header, if the first row names the columns)" if may_be_names else ""
        raise refused(path, row.line, f"unknown label '{printable(value, _SHOWN)}'{hint}")
    return label


def check_two_texts(table: Sequence[Row]) -> None:
    """EtchError where the rows of a table have not two texts each."""
    if (found := len(table[0].texts)) != 2:
        message = f"two text columns are compared, there are {found}: choose with --text-columns"
        raise EtchError("column-unknown", "arguments", message)


def parts_of(value: str) -> list[str]:
    """Separated by ;, spaces around them left out; nothing is no part."""
    return [part.strip(" ") for part in value.split(";")] if value.strip(" ") else []


def numbers(path: Path, row: Row, count: int) -> list[float]:
    """EtchError where there are not `count` of them."""
    try:
        values = [float(part) for part in parts_of(row.value)]
    except ValueError:
        values = []
    if len(values) != count or not np.isfinite(values).all():
        raise refused(path, row.line, f"expected {count} numbers, got '{printable(row.value, _SHOWN)}'")
    return values


def _lower(name: str) -> str:
    """ASCII letters only."""
    return "".join(c.lower() if c.isascii() else c for c in name)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
