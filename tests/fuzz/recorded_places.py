# SPDX-License-Identifier: Apache-2.0
"""Every place of the JSON files of the recorded checkpoints, all families and tokenizers: what one edit may change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORDED = tuple(Path(__file__).resolve().parents[1] / "codegen" / name for name in ("recorded", "generation"))
OUTPUTS = "recorded.json"  # no part of a checkpoint
MOST_MEMBERS, FEW_MEMBERS = 40, 2  # of an object with more, as a vocabulary, a few stand for all
FEW_ITEMS = 3  # of a list
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**40, 0.5, 1e308, "", "mean"),
    *([], [1], ["a"], [[]], {}, {"a": {}}),
)

GONE = object()

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """One value: where it is in a file of a folder."""

    folder: Path
    file: str  # from the folder
    path: Steps

    def __str__(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}/{self.file}: {'.'.join(map(str, self.path))}"

    def edited(self, text: str, value: object) -> str:
        """The file's text with another value there, or with nothing where that is GONE."""
        root = holder = json.loads(text)
        *above, last = self.path
        for step in above:
            holder = holder[step]
        holder[last] = value
        if value is GONE:
            del holder[last]
        return json.dumps(root)


def places() -> Iterator[Place]:
    """Of places that differ in a family by no more than their index in lists, the first."""
    seen: set[tuple[str, str, Steps]] = set()
    for folder in _folders():
        for file in sorted(folder.rglob("*.json")):
            if file.name == OUTPUTS:
                continue
            name = file.relative_to(folder).as_posix()
            for path in _paths(json.loads(file.read_text(encoding="utf-8"))):
                alike = (folder.parent.name, name, tuple("" if isinstance(step, int) else step for step in path))
                if alike not in seen:
                    seen.add(alike)
                    yield Place(folder, name, path)


def _folders() -> Iterator[Path]:
    """FAMILY/VARIANT below each of RECORDED."""
    for root in RECORDED:
        yield from sorted({root.joinpath(*path.relative_to(root).parts[:2]) for path in root.rglob("config.json")})


def _paths(value: object, above: Steps = ()) -> Iterator[Steps]:
    members: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        members = list(value.items())[: None if len(value) <= MOST_MEMBERS else FEW_MEMBERS]
    elif isinstance(value, list):
        members = list(enumerate(value[:FEW_ITEMS]))
    for step, member in members:
        yield (*above, step)
        yield from _paths(member, (*above, step))
