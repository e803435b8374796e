# SPDX-License-Identifier: Apache-2.0
"""JSON that may be wrong: objects with a key twice, numbers and words that no parser should take."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Raw:
    """Text that is written as it is."""

    text: str


@dataclass
class Node:
    """An object's members or a list's items, with their names (None in a list)."""

    named: bool
    items: list[tuple[str | None, Any]] = field(default_factory=list)


def read(text: str | bytes) -> Any:
    """The loose form of well-formed JSON."""
    return _loosen(json.loads(text, object_pairs_hook=lambda pairs: Node(True, [(k, _loosen(v)) for k, v in pairs])))


def write(value: Any) -> str:
    """The text of a loose value."""
    if isinstance(value, Raw):
        return value.text
    if not isinstance(value, Node):
        return json.dumps(value)
    parts = (f"{json.dumps(name) + ': ' if value.named else ''}{write(item)}" for name, item in value.items)
    return ("{%s}" if value.named else "[%s]") % ", ".join(parts)


def places(root: Any) -> list[tuple[Node, int]]:
    """Every place that holds a value, as a node and an index into its items, in the order of the text."""
    found: list[tuple[Node, int]] = []

    def visit(value: Any) -> None:
        if isinstance(value, Node):
            for i, (_, item) in enumerate(value.items):
                found.append((value, i))
                visit(item)

    visit(root)
    return found


def copy(value: Any) -> Any:
    """A copy that shares no node."""
    if not isinstance(value, Node):
        return value
    return Node(value.named, [(name, copy(item)) for name, item in value.items])


def change(root: Any, place: int, edit: Callable[[Node, int], None]) -> None:
    """Apply `edit` to one place, counted modulo the places there are; nothing where there is none."""
    found = places(root)
    if found:
        edit(*found[place % len(found)])


def _loosen(value: Any) -> Any:
    return Node(False, [(None, _loosen(item)) for item in value]) if isinstance(value, list) else value
