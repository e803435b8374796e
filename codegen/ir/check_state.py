# SPDX-License-Identifier: Apache-2.0
"""What the checks of a graph's ops know while it is walked, and what all of them ask."""

from __future__ import annotations

from typing import Literal

from . import graph as g
from .stage import Stage
from .unsound import unsound

RowKind = Literal["tokens", "text", "masks", "steps"]

IN_WORDS = {
    "tokens": "a row per token",
    "text": "one row per text",
    "masks": "one row per mask",
    "steps": "a row per step",
}


class Check:
    """What is known while a graph is walked."""

    def __init__(self, graph: g.Graph) -> None:
        self.graph = graph
        self.rows: dict[str, RowKind] = {}
        self.levels: dict[str, int] = {}  # of values whose rows are pooled; of others 0
        self.layer = 0
        self.layers: g.Layers | None = None
        self.target_rules: g.TargetRules | None = None  # in the phase that repeats

    def width(self, value: str) -> int:
        if value not in self.graph.widths:
            raise unsound(f"'{value}' has no width")
        return self.graph.widths[value]

    def same(self, what: str, found: object, wanted: object) -> None:
        if found != wanted:
            raise unsound(f"{what}: {found}, expected {wanted}")

    @property
    def positions(self) -> int:
        """Rows of tokens or of steps that are attended to at most, in this phase."""
        if self.target_rules is None:
            return self.graph.max_tokens
        return self.target_rules.steps(self.graph.max_tokens)

    def shape(self, parameter: g.Parameter, *shape: int) -> None:
        for array in parameter.arrays:
            self.same(f"shape of {array.name}", tuple(array.shape), shape)

    def out(self, value: str, rows: RowKind, level: int = 0) -> None:
        self.rows[value] = rows
        self.levels[value] = level

    def level(self, value: str) -> int:
        return self.levels.get(value, 0)


CHECK: Stage[None] = Stage("check")


def check_tokens(value: str, check: Check, level: int = 0) -> None:
    if check.rows[value] != "tokens":
        raise unsound(f"'{value}' has {IN_WORDS[check.rows[value]]}, a row per token is needed")
    check.same(f"level of '{value}'", check.level(value), level)


def check_rows(value: str, check: Check) -> RowKind:
    """Of a value that has a row per token or per step."""
    if check.rows[value] == "text":
        raise unsound(f"'{value}' has one row per text, a row per token is needed")
    return check.rows[value]


def check_heads(value: str, heads: int, check: Check) -> None:
    if heads < 1 or check.width(value) % heads:
        raise unsound(f"'{value}' of {check.width(value)} values has not {heads} heads")
