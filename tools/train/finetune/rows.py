# SPDX-License-Identifier: Apache-2.0
"""The files of a run to checked rows for its three purposes."""

from __future__ import annotations

from dataclasses import dataclass

from base import Base
from settings import Settings
from split import split
from table import Table, read_table
from targets import Labels, Target, find_labels


@dataclass(frozen=True)
class Rows:
    """Rows for one purpose."""

    purpose: str
    table: Table
    texts: list[tuple[str, ...]]
    targets: list[Target]

    def only(self, purpose: str, chosen: list[int]) -> Rows:
        """Some of them."""
        return Rows(purpose, self.table, [self.texts[i] for i in chosen], [self.targets[i] for i in chosen])


def read_rows(settings: Settings, base: Base) -> tuple[Labels, list[Rows]]:
    """Labels, and the rows to train on, to choose by and, where asked for, to test on."""
    table = read_table(settings.train, settings.columns)
    labels = find_labels(settings.task, table, base.labels)
    rows = _checked("training", table, labels)
    if settings.validation is not None:
        parts = [rows, _checked("held out", read_table(settings.validation, settings.columns), labels)]
    else:
        strata = [0] * len(rows.texts) if settings.task == "regression" else rows.targets
        train, held_out = split(rows.texts, strata, settings.held_out, settings.seed)
        parts = [rows.only("training", train), rows.only("held out", held_out)]
    if settings.test is not None:
        parts.append(_checked("test", read_table(settings.test, settings.columns), labels))
    return labels, parts


def _checked(purpose: str, table: Table, labels: Labels) -> Rows:
    records = table.records
    return Rows(purpose, table, [r.texts for r in records], [labels.target(table, r) for r in records])
