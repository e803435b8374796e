# SPDX-License-Identifier: Apache-2.0
"""In how many passes over the rows a body runs: an attention needs the keys and values of all rows, so that what makes
them has gone through every block before it begins. Which values these are the fields of an op say.

Stages are numbered from 0; within one all ops go through a block of rows together. Every op runs as late as what
follows allows: what only the rows asked of the last layer need is then computed for those rows only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..ir import graph as g
from ..ir.op import earlier_reads, packed_reads, reads, row_reads, writes


@dataclass(frozen=True)
class _Edge:
    """`later` begins no earlier than `distance` stages after `earlier`; both are indices of ops."""

    earlier: int
    later: int
    distance: int


@dataclass
class _Versions:
    """Who wrote each value last, and who has read it since."""

    writer: dict[str, int] = field(default_factory=dict)
    readers: dict[str, list[int]] = field(default_factory=dict)


def stages_of(body: Sequence[g.Op]) -> list[int]:
    """The stage of each op."""
    edges = _edges(body)
    earliest = [_first_stage(index, op, body) for index, op in enumerate(body)]
    for edge in edges:  # by `later`, so that what comes before it is final
        earliest[edge.later] = max(earliest[edge.later], earliest[edge.earlier] + edge.distance)
    latest = [max(earliest)] * len(body)
    for edge in sorted(edges, key=lambda edge: -edge.earlier):
        latest[edge.earlier] = min(latest[edge.earlier], latest[edge.later] - edge.distance)
    return latest


def crossing(body: Sequence[g.Op], stages: Sequence[int]) -> set[str]:
    """The values that are needed in a later stage than the one that makes them, packed keys and values aside."""
    made: dict[str, int] = {}
    found: set[str] = set()
    for op, stage in zip(body, stages, strict=True):
        found |= {value for value in row_reads(op) if made.get(value, stage) < stage}
        made |= {value: stage for value in writes(op)}
    return found


def _first_stage(index: int, op: g.Op, body: Sequence[g.Op]) -> int:
    """1 where keys or values come from outside: a stage before packs them."""
    made = {value for earlier in body[:index] for value in writes(earlier)}
    return int(not made.issuperset(packed_reads(op)))


def _edges(body: Sequence[g.Op]) -> list[_Edge]:
    versions = _Versions()
    edges: list[_Edge] = []
    for index, op in enumerate(body):
        of_all_rows = packed_reads(op)
        for value in reads(op):
            if value in versions.writer:
                edges.append(_Edge(versions.writer[value], index, int(value in of_all_rows)))
            versions.readers.setdefault(value, []).append(index)
        for value in writes(op):
            # A buffer is not written again before its readers have gone through all rows that they need of it, nor is
            # a value packed again before those of what was packed have.
            before = {*versions.readers.pop(value, ()), versions.writer.get(value, index)} - {index}
            packed_again = any(value in packed_reads(later) for later in body[index + 1 :])
            for one in sorted(before):
                is_read = value in earlier_reads(body[one]) or (packed_again and value in packed_reads(body[one]))
                edges.append(_Edge(one, index, int(is_read)))
            versions.writer[value] = index
            if value in reads(op):
                versions.readers[value] = []
    return edges
