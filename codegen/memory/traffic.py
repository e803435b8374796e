# SPDX-License-Identifier: Apache-2.0
"""How many bytes of each buffer a call reads and writes: what it costs where they lie.

A model of the runtime, not a measurement of it, of a text of as many tokens as the model takes and of as many written
ones as it may write, on one thread. What an op reads or writes it touches once, what it updates twice, as its fields
say; in blocks of rows a buffer of a block once for each block. Four things are touched more often:
- an attention goes through its keys and values once for every `attention_tile_rows` rows of its queries, of what was
  written so far through half of them on average;
- a linear goes through its input again for every 16 outputs, whose weights stay in registers or the first cache;
- a delta rule goes through its state twice for each row: it decays, then it changes; a state space does both at once;
- the scratch of an attention is written and read once for each tile of a head, that which expands weights of 4 bits
  once for every 16 outputs, that of a GRU once for each row.
What tokenization and the head's ends touch is counted as twice its bytes, for generative models in each step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from ..ir import program as p
from ..ir import walks
from ..ir.check_program import READS_ALL
from ..ir.op import packed_reads, reads, writes
from ..ir.stage import Stage
from ..targets import PANEL_WIDTH, Target
from .plan import SCRATCH, WORD_ENTRIES, WORD_ROWS, Plan, most_rows_of, steps_of


@dataclass(frozen=True)
class Times:
    """How often an op is run, for how many blocks of rows each time, and for how many rows in all of them."""

    runs: int
    blocks: int
    rows: int
    in_steps: bool = False


def traffic_of(program: p.Program, plan: Plan, target: Target) -> dict[str, int]:
    """Bytes by the name of the buffer, whichever region the plan has it in."""
    sizes = {item.name: item.size for region in plan.regions for item in region.placements}
    taken: Counter[str] = Counter()
    used: set[str] = set()
    for op, times in ops_with_times(program, plan):
        for buffer in (*reads(op), *writes(op)):
            used.add(buffer.name)
            share = _touched(op, buffer, times, program, target)
            if walks.only_rows(op) is not None and buffer.rows == "block":
                share *= Fraction(times.rows, plan.row_block)
            taken[buffer.name] += int(times.runs * share * sizes[buffer.name])
        scratch = SCRATCH(op, program, target)
        taken["scratch"] += 2 * times.runs * scratch * SCRATCH_USES(op, rows_in(op, times, program), times, target)
    steps = 1 if program.target_rules is None else steps_of(program)
    for name in sizes.keys() - used - {"scratch"}:
        taken[name] = 2 * sizes[name] * (1 if name in ("tokenizer", "ids", "segments", "texts") else steps)
    return dict(taken)


def ops_with_times(program: p.Program, plan: Plan) -> Iterator[tuple[p.Op, Times]]:
    """Every op once."""
    once = Times(1, 1, 1)
    for step in program.steps:
        yield from _within(step, once, plan.row_block, program)


def _within(step: p.Step, times: Times, row_block: int, program: p.Program) -> Iterator[tuple[p.Op, Times]]:
    if isinstance(step, p.Op):
        only = walks.only_rows(step)
        yield step, times if only is None else replace(times, blocks=1, rows=most_rows_of(only, program))
        return
    inner = INSIDE(step, times, row_block, program)
    for part in step.body:
        yield from _within(part, inner, row_block, program)


# How often what a step holds is run, if the step is run so often.
INSIDE: Stage[Times] = Stage("traffic")


@INSIDE.on(p.Loop)
def _loop(step: p.Loop, times: Times, row_block: int, program: p.Program) -> Times:
    return replace(times, runs=times.runs * step.count)


@INSIDE.on(p.Blocks)
def _blocks(step: p.Blocks, times: Times, row_block: int, program: p.Program) -> Times:
    rows = program.max_tokens
    return times if times.in_steps else Times(times.runs, -(-rows // row_block), rows)


@INSIDE.on(p.Repeat)
def _repeat(step: p.Repeat, times: Times, row_block: int, program: p.Program) -> Times:
    if step.over != "steps":
        return times
    assert program.target_rules is not None
    return Times(steps_of(program), 1, program.target_rules.search.beams, in_steps=True)


def rows_in(op: p.Op, times: Times, program: p.Program) -> int:
    """Rows in one run of an op over all its blocks."""
    of_tokens = isinstance(op, p.EmbeddingMean) or any(out.rows == "tokens" for out in writes(op))
    whole = not times.in_steps and of_tokens
    return max(times.rows, program.max_tokens) if whole else times.rows


def _touched(op: p.Op, buffer: p.Buffer, times: Times, program: p.Program, target: Target) -> Fraction:
    """How often all bytes of a buffer are, in one run of an op over all its blocks."""
    layer = Fraction(1, buffer.layers)
    if buffer in packed_reads(op) and buffer.storage != "rows":
        written_so_far = Fraction(1, 2) if buffer.rows == "steps" else Fraction(1)
        tiles = 1 if times.in_steps else -(-times.rows // target.attention_tile_rows)
        return layer * written_so_far * tiles
    if isinstance(op, p.FourierRows) and buffer == op.input:  # each row is made of all of its text
        return layer * times.rows
    if buffer.rows == "steps":  # the row of this step
        return layer / steps_of(program)
    again = AGAIN(op, buffer)
    if buffer.rows == "sequences":
        return layer * again
    if buffer.rows == "carried":
        return Fraction(again * times.rows)
    if buffer.rows == "tokens":
        one_row = times.rows == 1 and times.blocks == 1 and any(out.rows == "one" for out in writes(op))
        return layer * again * (Fraction(1, program.max_tokens) if one_row and not READS_ALL(op) else 1)
    return Fraction(again * times.blocks if buffer.rows == "block" else again)


_ONCE = (
    *(p.EmbeddingSum, p.Norm, p.Quantize, p.Multiply, p.Add, p.Rotary, p.PackKeys, p.PackKeyRows),
    *(
        p.Xielu,
        p.PackRows,
        p.CenteredConvolution,
        p.DynamicConvolution,
        p.FourierRows,
        p.Upsample,
        p.Copy,
        p.GroupRows,
        p.FirstRow,
        p.SpreadRows,
        p.RowOfToken,
        p.ChooseExperts,
        p.SelectRows,
        p.MixExperts,
        p.EmbeddingMean,
        p.PackValues,
        p.Attention,
        p.Gru,
        p.Pool,
        p.Masked,
        p.Normalize,
        p.Softmax,
        p.Cap,
    ),
)

# How often an op goes through a row of a buffer that is not packed.
AGAIN: Stage[int] = Stage("traffic")


@AGAIN.on(*_ONCE)
def _once(op: p.Op, buffer: p.Buffer) -> int:
    return 1


@AGAIN.on(p.CausalConvolution)
def _last_rows(op: p.CausalConvolution, buffer: p.Buffer) -> int:
    """Its state is read, and one of its rows written."""
    return 2 if buffer == op.state else 1


@AGAIN.on(p.DeltaRule)
def _passes(op: p.DeltaRule, buffer: p.Buffer) -> int:
    """Its state is read and written twice."""
    return 4 if buffer == op.state else 1


@AGAIN.on(p.StateSpace)
def _pass(op: p.StateSpace, buffer: p.Buffer) -> int:
    """Its state is read and written."""
    return 2 if buffer == op.state else 1


@AGAIN.on(p.Linear, p.ExpertLinear, p.WordWeights)
def _for_outputs(op: p.Linear | p.ExpertLinear | p.WordWeights, buffer: p.Buffer) -> int:
    return _panels(op.out.width) if buffer == op.input else 1


@AGAIN.on(p.Best)
def _for_entries(op: p.Best, buffer: p.Buffer) -> int:
    return _panels(op.count) if buffer == op.input else 1


# How often an op writes and reads all of its scratch, in one run over all its blocks, which is of `rows` rows.
SCRATCH_USES: Stage[int] = Stage("traffic")


@SCRATCH_USES.on(p.Attention)
def _for_each_head(op: p.Attention, rows: int, times: Times, target: Target) -> int:
    return op.shape.heads * -(-rows // target.attention_tile_rows)


@SCRATCH_USES.on(p.Linear, p.ExpertLinear)
def _expanding(op: p.Linear | p.ExpertLinear, rows: int, times: Times, target: Target) -> int:
    return times.blocks * _panels(op.out.width)


@SCRATCH_USES.on(p.WordWeights)
def _few_logits(op: p.WordWeights, rows: int, times: Times, target: Target) -> int:
    return -(-rows // WORD_ROWS) * -(-op.out.width // WORD_ENTRIES)


@SCRATCH_USES.on(p.Best)
def _expanding_entries(op: p.Best, rows: int, times: Times, target: Target) -> int:
    return times.blocks * _panels(op.count)


@SCRATCH_USES.on(p.CausalConvolution, p.DeltaRule, p.StateSpace, *(kind for kind in _ONCE if kind is not p.Attention))
def _for_each_row(op: p.Op, rows: int, times: Times, target: Target) -> int:
    return rows


def _panels(outputs: int) -> int:
    return -(-outputs // PANEL_WIDTH)
