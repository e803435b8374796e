# SPDX-License-Identifier: Apache-2.0
"""What a label column says: a class, several classes, or a number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from common.refusal import Refused
from table import Record, Table

SEPARATOR = ";"  # between the labels of one row, as in the programs' `--evaluate`
MAX_LABELS = 1000
PROBLEM_TYPES = {
    "single_label": "single_label_classification",
    "multi_label": "multi_label_classification",
    "regression": "regression",
}
Target = int | float | tuple[int, ...]  # class; number; 0 or 1 for each label


@dataclass(frozen=True)
class Labels:
    """The names of a model's outputs, and how to read a column as these."""

    task: str
    names: tuple[str, ...]

    @property
    def settings(self) -> dict[str, Any]:
        """What config.json says of them."""
        return {
            "problem_type": PROBLEM_TYPES[self.task],
            "id2label": {str(i): name for i, name in enumerate(self.names)},
            "label2id": {name: i for i, name in enumerate(self.names)},
        }

    def target(self, table: Table, record: Record) -> Target:
        """What the row says."""
        place = f"{table.name}: line {record.line}"
        if self.task == "regression":
            return _number(place, record.label)
        names = _listed(self.task, place, record.label)
        for name in names:
            if name not in self.names:
                raise Refused(f"{place}: label '{name[:60]}' does not occur in the training rows")
        if self.task == "single_label":
            return self.names.index(record.label)
        return tuple(int(name in names) for name in self.names)


def find_labels(task: str, table: Table, known: tuple[str, ...]) -> Labels:
    """The labels of the training rows: in the order of `known`, the checkpoint's, where these are the same."""
    places = [(f"{table.name}: line {record.line}", record.label) for record in table.records]
    if task == "regression":
        values = {_number(place, label) for place, label in places}
        if len(values) < 2:
            raise Refused(f"{table.name}: every row has the value {values.pop():g}: nothing to learn")
        return Labels(task, (table.label_name or "value",))
    found = {name for place, label in places for name in _listed(task, place, label)}
    if len(found) < 2:
        raise Refused(f"{table.name}: there is one label only, '{''.join(found)[:60]}': nothing to learn")
    if len(found) > MAX_LABELS:
        raise Refused(f"{table.name}: {len(found)} labels, at most {MAX_LABELS}; for numbers choose --task regression")
    if found == set(known):
        return Labels(task, known)
    numbers = all(name.isascii() and name.isdigit() for name in found)
    return Labels(task, tuple(sorted(found, key=(lambda name: (int(name), name)) if numbers else None)))


def _listed(task: str, place: str, text: str) -> list[str]:
    """The labels of a row; of a multi-label row perhaps none."""
    if task == "multi_label" and not text.strip():
        return []
    labels = text.split(SEPARATOR) if task == "multi_label" else [text]
    if not all(label.strip() for label in labels):
        raise Refused(f"{place}: an empty label")
    return labels


def _number(place: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Refused(f"{place}: '{text[:60]}' is not a number")
    return value
