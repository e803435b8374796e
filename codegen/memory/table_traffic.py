# SPDX-License-Identifier: Apache-2.0
"""How many bytes of each table of weights a call reads: what it costs where they lie.

Counted as in traffic.py, of a text of as many tokens as the model takes and of as many written ones as it may write:
- weights, scales and biases of a linear once for each block of rows, in each step that has it;
- of linears of experts those that the rows of a block choose, at most;
- of an embedding the rows that are looked up, one for each token;
- scale and shift of a norm once for each row, the weights of a GRU or a convolution once for each token;
- relative rows and biases of an attention once for every `attention_tile_rows` rows of its queries;
- cosines, sines and what else is looked up as it is once for each block of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ..ir import program as p
from ..ir.op import slots
from ..ir.stage import Stage
from ..pack.tables import Table
from ..targets import Target
from .plan import Plan
from .traffic import Times, ops_with_times, rows_in


def table_traffic(program: p.Program, plan: Plan, target: Target, tables: Sequence[Table]) -> dict[str, int]:
    """Bytes by the name of the table; 0 of those that no op names, such as a tokenizer's."""
    of_part: dict[str, list[Table]] = {}
    for table in tables:
        of_part.setdefault(table.part, []).append(table)
    taken: Counter[str] = Counter()
    for op, times in ops_with_times(program, plan):
        for slot in slots(op):
            share = SHARE(op, slot, rows_in(op, times, program), times, target)
            for part, entries in _stored_in(slot):
                for table in of_part.get(part, ()):
                    bytes_read = sum(_entry_bytes(table, entry) for entry in entries)
                    taken[table.name] += int(Fraction(times.runs, slot.layers) * share * bytes_read)
    return {table.name: taken[table.name] for table in tables}


def _stored_in(slot: p.WeightSlot) -> Iterator[tuple[str, list[int]]]:
    """The slots whose tables hold the weights of this one, and which of their entries its layers read."""
    entries = [slot.entry(layer) for layer in range(slot.layers)]
    yield slot.name, entries
    for table in {w.table for w in slot.stored if isinstance(w, p.LinearWeights) and w.table is not None}:
        yield table, [0 for _ in entries]


def _entry_bytes(table: Table, entry: int) -> int:
    """Of one layer's array; 0 where the layer has another kind."""
    if not table.layers:
        return table.bytes
    return table.arrays[table.layers.index(entry)].nbytes if entry in table.layers else 0


# How often all bytes of a layer's weights are read in one run of an op over all its blocks, which is of `rows` rows.
SHARE: Stage[Fraction] = Stage("table traffic")


@SHARE.on(p.EmbeddingSum, p.EmbeddingMean)
def _looked_up(op: p.Op, slot: p.WeightSlot, rows: int, times: Times, target: Target) -> Fraction:
    return Fraction(rows, _rows_of(slot.stored[0]))


@SHARE.on(p.Norm)
def _for_each_head(op: p.Norm, slot: p.WeightSlot, rows: int, times: Times, target: Target) -> Fraction:
    return Fraction(op.heads // op.heads_with_weights * rows)


@SHARE.on(p.Gru, p.CausalConvolution, p.CenteredConvolution, p.DeltaRule, p.StateSpace, p.ChooseExperts)
def _for_each_row(op: p.Op, slot: p.WeightSlot, rows: int, times: Times, target: Target) -> Fraction:
    return Fraction(rows)


@SHARE.on(p.Attention)
def _for_each_tile(op: p.Attention, slot: p.WeightSlot, rows: int, times: Times, target: Target) -> Fraction:
    return Fraction(-(-rows // target.attention_tile_rows))


@SHARE.on(p.ExpertLinear)
def _for_chosen_experts(op: p.ExpertLinear, slot: p.WeightSlot, rows: int, times: Times, target: Target) -> Fraction:
    """Rows of a block may all have chosen other ones."""
    experts, chosen = op.routes.heads, -(-rows // times.blocks) * op.routes.width
    return times.blocks * Fraction(min(experts, chosen), experts)


@SHARE.on(p.Linear, p.Best, p.WordWeights, p.Rotary, p.Xielu)
def _for_each_block(op: p.Op, slot: p.WeightSlot, rows: int, times: Times, target: Target) -> Fraction:
    return Fraction(times.blocks)


def _rows_of(weights: p.Weights) -> int:
    """Of a table that is looked up."""
    array = weights.values if isinstance(weights, p.FloatTable | p.IndexTable) else None
    if array is None:
        assert isinstance(weights, p.EmbeddingWeights)
        return weights.matrix.shape[0]
    return array.shape[0]
