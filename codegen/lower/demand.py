# SPDX-License-Identifier: Apache-2.0
"""Which rows of each text every op has to compute, found backwards from the heads.

A head that pools the first row asks for that row only; an attention asks for all rows of its keys and values and for
those of its queries that are asked of it; every other op asks of what it reads the rows that are asked of it. Layers
are walked from the last to the first, so that all of them but the last are asked for every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ..ir import graph as g
from ..ir.op import reads, writes
from ..ir.stage import Stage


class Rows(IntEnum):
    """What is asked for; a larger one includes the smaller."""

    NONE = 0
    FIRST = 1
    ALL = 2


Asked = dict[str, Rows]  # by value

INPUTS: Stage[None] = Stage("demand")  # what an op asks of its inputs when some rows are asked of it


@dataclass(frozen=True)
class NodeDemand:
    """Of a node of the graph's body."""

    runs: tuple[Rows, ...]  # of each of its ops in the order in which they run: of Layers first those of layer 0
    after: Asked  # what later nodes ask of each value


def demand(graph: g.Graph) -> list[NodeDemand]:
    """For each node of the body; what repeats behind it reads all rows."""
    asked: Asked = {head.value: Rows.ALL for head in graph.heads}
    asked |= {value: Rows.ALL for node in graph.repeat for op in g.ops_in(node) for value in reads(op)}
    found: list[NodeDemand] = []
    for node in reversed(graph.body):
        runs = g.ops_in(node) * (node.count if isinstance(node, g.Layers) else 1)
        after = dict(asked)
        rows = [_rows_of(op, asked) for op in reversed(runs)]
        found.append(NodeDemand(tuple(reversed(rows)), after))
    return found[::-1]


def _rows_of(op: g.Op, asked: Asked) -> Rows:
    """The rows asked of `op`; `asked` becomes what is asked before it."""
    rows = max(asked.pop(value, Rows.NONE) for value in writes(op))
    if rows is not Rows.NONE:
        INPUTS(op, rows, asked)
    return rows


def is_row_by_row(op: g.Op) -> bool:
    """Whether the first row of what `op` writes takes the first rows of values, and no other ones."""
    asked: Asked = {}
    INPUTS(op, Rows.FIRST, asked)
    return bool(asked) and max(asked.values()) is Rows.FIRST


def _ask(asked: Asked, value: str, rows: Rows) -> None:
    asked[value] = max(asked.get(value, Rows.NONE), rows)


@INPUTS.on(g.Embed)
def _nothing(op: g.Embed, rows: Rows, asked: Asked) -> None:
    """Ids, segments and positions are there for every row."""


@INPUTS.on(
    g.Norm, g.Linear, g.Multiply, g.Add, g.Xielu, g.Rotary, g.Experts, g.Best, g.Normalize, g.Softmax, g.Cap, g.Copy
)
def _same_rows(op: g.Op, rows: Rows, asked: Asked) -> None:
    for value in reads(op):
        _ask(asked, value, rows)


@INPUTS.on(g.Attention)
def _attention(op: g.Attention, rows: Rows, asked: Asked) -> None:
    _ask(asked, op.query, Rows.FIRST if op.only == 1 else rows)
    if op.others is not None:
        _ask(asked, op.others, rows)
    _ask(asked, op.key, Rows.ALL)
    _ask(asked, op.value, Rows.ALL)


@INPUTS.on(g.Gru, g.CausalConvolution, g.CenteredConvolution, g.FourierRows)
def _other_rows(
    op: g.Gru | g.CausalConvolution | g.CenteredConvolution | g.FourierRows, rows: Rows, asked: Asked
) -> None:
    """A row takes from others before it, or behind it."""
    _ask(asked, op.input, Rows.ALL)


@INPUTS.on(g.DeltaRule)
def _rows_before(op: g.DeltaRule, rows: Rows, asked: Asked) -> None:
    """A row takes from all before it."""
    for value in (op.input, op.decay, op.beta):
        _ask(asked, value, Rows.ALL)


@INPUTS.on(g.StateSpace)
def _states_before(op: g.StateSpace, rows: Rows, asked: Asked) -> None:
    """The same."""
    for value in (op.input, op.time):
        _ask(asked, value, Rows.ALL)


@INPUTS.on(g.DynamicConvolution)
def _own_taps(op: g.DynamicConvolution, rows: Rows, asked: Asked) -> None:
    _ask(asked, op.taps, rows)
    _ask(asked, op.input, Rows.ALL)


@INPUTS.on(g.PoolRows)
def _pooled_rows(op: g.PoolRows, rows: Rows, asked: Asked) -> None:
    """The first one, which may be made of two. In later layers it hands all on, as layers may that ask for one row."""
    _ask(asked, op.value, Rows.ALL)


@INPUTS.on(g.Upsample)
def _upsampled(op: g.Upsample, rows: Rows, asked: Asked) -> None:
    _ask(asked, op.input, Rows.ALL)
    _ask(asked, op.value, Rows.ALL)


@INPUTS.on(g.GroupRows, g.SpreadRows, g.RowOfToken)
def _any_rows(op: g.GroupRows | g.SpreadRows | g.RowOfToken, rows: Rows, asked: Asked) -> None:
    for value in reads(op):
        _ask(asked, value, Rows.ALL)


@INPUTS.on(g.FirstRow)
def _first_row(op: g.FirstRow, rows: Rows, asked: Asked) -> None:
    _ask(asked, op.input, Rows.ALL)
    _ask(asked, op.value, rows)


@INPUTS.on(g.WordWeights)
def _every_row(op: g.WordWeights, rows: Rows, asked: Asked) -> None:
    _ask(asked, op.input, Rows.ALL)


@INPUTS.on(g.Masked)
def _masked(op: g.Masked, rows: Rows, asked: Asked) -> None:
    """Any token may be one."""
    _ask(asked, op.input, Rows.ALL)


@INPUTS.on(g.Pool)
def _pool(op: g.Pool, rows: Rows, asked: Asked) -> None:
    _ask(asked, op.input, Rows.FIRST if op.only_first else Rows.ALL)
