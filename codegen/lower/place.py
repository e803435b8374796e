# SPDX-License-Identifier: Apache-2.0
"""Where the values of a body lie while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..ir import graph as g
from ..ir import program as p
from ..ir.parameter import Array
from ..quantize.recipe import Recipe

PROJECTION = "projection"  # the buffer that keys, then values pass through on their way to be packed


@dataclass(frozen=True)
class Place:
    """What the lowering of an op may ask for."""

    graph: g.Graph
    recipe: Recipe
    buffers: Mapping[str, p.Buffer]  # of every value that the body touches
    rows: p.Rows  # of what an op needs for itself
    slots: dict[str, p.WeightSlot]  # of the parameters so far: one that several ops have is stored once
    tied: frozenset[str] = frozenset()  # embedding tables that are also the weights of a linear
    target_rules: g.TargetRules | None = None  # in what is repeated, and in what is packed for it
    layers: int = 1  # that it is packed for
    steps: frozenset[str] = frozenset()  # values that have a row per step
    averaged: Mapping[str, g.Embed] = field(default_factory=dict)  # what has no rows, but for their mean

    @property
    def positions(self) -> int:
        """Most rows of tokens, or of steps, that an op here looks up by position."""
        return self.graph.max_tokens if self.target_rules is None else self.target_rules.steps(self.graph.max_tokens)

    def looked_up(self, table: g.Parameter) -> int:
        """Most rows of a table that are looked up by position, in all phases that have it: it is stored once."""
        phases = {"once": self.graph.max_tokens}
        if self.graph.target_rules is not None:
            phases["repeat"] = self.graph.target_rules.steps(self.graph.max_tokens)
        return max(
            phases[phase.kind]
            for phase in self.graph.phases
            for node in phase.body
            for op in g.ops_in(node)
            if isinstance(op, g.Embed) and any(term.table is table for term in op.terms)
        )

    def slot(self, parameter: g.Parameter, make: Callable[[Array, int], p.Weights]) -> p.WeightSlot:
        """The slot of a parameter, each of its arrays as `make` stores it."""
        if parameter.name not in self.slots:
            stored = tuple(make(array, index) for index, array in enumerate(parameter.arrays))
            self.slots[parameter.name] = p.WeightSlot(parameter.name, stored, parameter.of_layer, parameter.common)
        return self.slots[parameter.name]

    def buffer(self, value: str) -> p.Buffer:
        """Of a value."""
        return self.buffers[value]

    def quantized(self, value: str) -> p.Buffer:
        """For the rows of a value as bytes."""
        source = self.buffers[value]
        # One row of what has a row per token elsewhere is another buffer than the blocks of it.
        name = (
            f"{value}_row_q" if self.rows == "one" and source.name == value and source.rows != "one" else f"{value}_q"
        )
        return p.Buffer(name, "quantized", self.rows, source.width)

    def shape(self, op: g.Attention) -> p.HeadShape:
        """The heads of an attention."""
        return p.HeadShape(op.heads, op.key_heads or op.heads, self.graph.widths[op.query] // op.heads)

    def caches(self, op: g.Attention) -> tuple[p.Buffer, p.Buffer]:
        """Packed keys and values."""
        names = (f"{op.key}s", f"{op.value}s") if op.key != op.value else (f"{op.key}_keys", f"{op.value}_values")
        heads, kind = op.key_heads or op.heads, self.recipe.kind
        rows: p.Rows = "steps" if op.key in self.steps else "tokens"
        keys = p.Buffer(names[0], "keys", rows, self.graph.widths[op.key], heads, kind, self.layers)
        return keys, p.Buffer(names[1], "values", rows, self.graph.widths[op.value], heads, kind, self.layers)

    def state(self, value: str, rows: int) -> p.Buffer:
        """What is kept of a value from step to step, as wide as so many of its rows; where it has all rows, from block
        to block."""
        width = rows * self.graph.widths[value]
        if value in self.steps:
            return p.Buffer(f"{value}_state", "state", "sequences", width, layers=self.layers)
        return p.Buffer(f"{value}_state", "state", "carried", width)

    def packed_rows(self, value: str) -> p.Buffer:
        """All rows of a value, as they are."""
        return p.Buffer(f"{value}_packed", "rows", "tokens", self.graph.widths[value])

    def key_rows(self, op: g.Attention) -> p.Buffer:
        """Keys as the rows of a product."""
        return p.Buffer(f"{op.key}_rows", "key_rows", "tokens", self.graph.widths[op.key], op.heads, self.recipe.kind)
