# SPDX-License-Identifier: Apache-2.0
"""The phase that repeats. What it makes of rows of tokens alone is the same in every step: that is computed once,
before the steps, and packed for each layer. The rest works on one row a step, whose keys and values are appended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import EtchError
from ..ir import graph as g
from ..ir import program as p
from ..ir.check_graph import rows_of
from ..ir.check_state import RowKind
from ..ir.op import packed_reads, reads, writes
from ..quantize.recipe import Recipe
from .ops import LOWER, PACK
from .place import Place


@dataclass(frozen=True)
class _Phase:
    """What all nodes of the phase are lowered with, as `Place` has it."""

    graph: g.Graph
    recipe: Recipe
    slots: dict[str, p.WeightSlot]
    tied: frozenset[str]
    rows: dict[str, RowKind]

    def place(self, node: g.Node, own: p.Rows) -> Place:
        """`own` is what a value has that the node makes of tokens; a step's have one row."""
        made = {value for op in g.ops_in(node) for value in writes(op)}
        touched = {value for op in g.ops_in(node) for value in (*reads(op), *writes(op))}

        def buffer(value: str) -> p.Buffer:
            of_step = self.rows[value] == "steps"
            kind: p.Rows = "one" if of_step else own if value in made else "tokens"
            return p.Buffer(value, "f32", kind, self.graph.widths[value])

        return Place(
            self.graph,
            self.recipe,
            {value: buffer(value) for value in touched},
            own,
            self.slots,
            self.tied,
            target_rules=self.graph.target_rules if own == "one" else None,
            layers=node.count if isinstance(node, g.Layers) else 1,
            steps=frozenset(value for value, kind in self.rows.items() if kind == "steps"),
        )


def repeating(graph: g.Graph, recipe: Recipe, slots: dict[str, p.WeightSlot], tied: frozenset[str]) -> Iterator[p.Step]:
    """The steps that pack what is the same in every one, and those that repeat. `slots` are of the whole graph,
    `tied` the embedding tables among them that are also the weights of a linear."""
    rows = rows_of(graph)
    phase = _Phase(graph, recipe, slots, tied, rows)
    for node in graph.repeat:
        fixed = [op for op in g.ops_in(node) if _is_fixed(op, rows)]
        attentions = [op for op in g.ops_in(node) if _attends_to(op, "tokens", rows)]
        if any(map(packed_reads, fixed)):
            message = "an attention among the tokens of the text belongs before what repeats"
            raise EtchError("generation-not-supported", "lower", message)
        if attentions:
            packed = _packed(fixed, attentions, phase.place(node, "block"))
            yield _wrapped(node, p.Blocks(without_repeats(packed)))
    body: list[p.Op | p.Loop] = []
    appended_to: list[p.Op] = []
    for node in graph.repeat:
        ops = [op for op in g.ops_in(node) if not _is_fixed(op, rows)]
        appended = [op for op in ops if _attends_to(op, "steps", rows)]
        place = phase.place(node, "one")
        appended = [op for op in appended if not _is_packed_before(op, node, place, appended_to)]
        lowered = without_repeats(_packed(ops, appended, place))
        appended_to += [op for op in lowered if isinstance(op, p.PackKeys | p.PackValues)]
        body += [p.Loop(node.name, node.count, (p.Blocks(lowered),))] if isinstance(node, g.Layers) else lowered
    yield p.Repeat("steps", tuple(body))


def _is_fixed(op: g.Op, rows: dict[str, RowKind]) -> bool:
    """Whether it is the same in every step."""
    return all(rows[value] == "tokens" for value in writes(op))


def _attends_to(op: g.Op, kind: RowKind, rows: dict[str, RowKind]) -> bool:
    """Whether what it reads packed is of this kind."""
    return any(rows[value] == kind for value in packed_reads(op))


def _is_packed_before(attention: g.Op, node: g.Node, place: Place, before: Sequence[p.Op]) -> bool:
    """Whether an earlier node appends all that it reads of steps; EtchError where none does, and neither does this."""
    made = {value for op in g.ops_in(node) for value in writes(op)}
    others = [value for value in packed_reads(attention) if value not in made]
    if any(one not in before for value in others for one in PACK(attention, value, place)):
        message = "keys of steps are appended once, by the layer that writes them: not by one that repeats"
        raise EtchError("generation-not-supported", "lower", message)
    return bool(others)


def _packed(ops: Sequence[g.Op], attentions: Sequence[g.Op], place: Place) -> list[p.Op]:
    """The ops in their order, each key and value of the attentions packed as soon as it is final; once, though several
    of them may read it."""
    last = {value: index for index, op in enumerate(ops) for value in writes(op)}
    wanted: dict[p.Op, int] = {}  # when
    for attention in attentions:
        for value in packed_reads(attention):
            wanted |= dict.fromkeys(PACK(attention, value, place), last.get(value, -1))
    lowered = [one for one, when in wanted.items() if when < 0]
    for index, op in enumerate(ops):
        lowered += LOWER(op, place)
        lowered += [one for one, when in wanted.items() if when == index]
    return lowered


def _wrapped(node: g.Node, blocks: p.Blocks) -> p.Step:
    return p.Loop(node.name, node.count, (blocks,)) if isinstance(node, g.Layers) else blocks


def without_repeats(ops: Sequence[p.Op]) -> tuple[p.Op, ...]:
    """Drops a Quantize whose source has not changed since the same Quantize ran."""
    kept: list[p.Op] = []
    current: set[tuple[p.Buffer, p.Buffer]] = set()
    for op in ops:
        if isinstance(op, p.Quantize):
            if (op.input, op.out) in current:
                continue
            current.add((op.input, op.out))
        else:
            written = set(writes(op))
            current = {pair for pair in current if written.isdisjoint(pair)}
        kept.append(op)
    return tuple(kept)
