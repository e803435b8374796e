# SPDX-License-Identifier: Apache-2.0
"""The first thing in which a program differs from another one, in words."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import zip_longest

from ..ir import program as p

_NOTHING = object()


def difference(found: object, expected: object, place: str = "the program") -> str | None:
    """Where `found` differs, and how; None where it does not. Arrays are the same only where they are one array."""
    if found is expected:
        return None
    if type(found) is type(expected):
        if isinstance(found, tuple) and isinstance(expected, tuple):
            return _difference_of_items(found, expected, place)
        if is_dataclass(found) and not isinstance(found, p.Buffer):
            return _difference_of_fields(found, expected, place)
        if isinstance(found, p.Buffer | bool | int | float | str) and found == expected:
            return None
    return f"{place}: {described(found)} where it has {described(expected)}"


def described(value: object) -> str:
    """A few words for an op, a buffer or a value."""
    if value is _NOTHING:
        return "nothing"
    if isinstance(value, p.Buffer):
        return f"{value.name}: {value.storage} [{value.rows}, {value.width}]"
    if isinstance(value, str | int | float | None):
        return str(value)
    name = _name_of(value)
    return type(value).__name__ if name is None else f"{type(value).__name__} '{name}'"


def _difference_of_items(found: tuple[object, ...], expected: tuple[object, ...], place: str) -> str | None:
    for index, (one, other) in enumerate(zip_longest(found, expected, fillvalue=_NOTHING)):
        name = _name_of(one)
        inside = f"{place}[{index}]" if name is None else f"{place}[{index}], '{name}'"
        said = difference(one, other, inside)
        if said is not None:
            return said
    return None


def _difference_of_fields(found: object, expected: object, place: str) -> str | None:
    for field in fields(found):  # type: ignore[arg-type]
        said = difference(getattr(found, field.name), getattr(expected, field.name), f"{place}, {field.name}")
        if said is not None:
            return said
    return None


def _name_of(value: object) -> str | None:
    """Of a loop or a place for weights; of an op that of its weights."""
    weights = getattr(value, "weights", value)
    name = getattr(weights, "name", None)
    return name if isinstance(name, str) else None
