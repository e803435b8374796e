# SPDX-License-Identifier: Apache-2.0
"""How many bytes of each buffer a call reads and writes: what it costs where they lie.

A model of the runtime, not a measurement of it, of a text of as many tokens as the model takes and of as many written
ones as it may write, on one thread. What an op reads or writes it touches once, what it updates twice, as its fields
say; in blocks of rows a buffer of a block once for each block. Three things are touched more often:
- an attention goes through its keys and values once for every `attention_tile_rows` rows of its queries, of what was
  written so far through half of them on average;
- a linear goes through its input again for every 16 outputs, whose weights stay in registers or the first cache;
- the scratch of an attention is written and read once for each tile of a head, that which expands weights of 4 bits
  once for every 16 outputs.
What tokenization and the head's ends touch is counted as twice its bytes, for models that write in each step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from .ir import program as p
from .ir.op import reads, writes
from .plan import SCRATCH, Plan, steps_of
from .targets import PANEL_WIDTH, Target


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
            taken[buffer.name] += int(times.runs * _touched(op, buffer, times, program, target) * sizes[buffer.name])
        scratch = SCRATCH(op, program, target)
        taken["scratch"] += 2 * times.runs * scratch * _scratch_uses(op, times, target)
    steps = 1 if program.target is None else steps_of(program)
    for name in sizes.keys() - used - {"scratch"}:
        taken[name] = 2 * sizes[name] * (1 if name in ("tokenizer", "ids", "segments", "texts") else steps)
    return dict(taken)


def ops_with_times(program: p.Program, plan: Plan) -> Iterator[tuple[p.Op, Times]]:
    """Every op once."""
    once = Times(1, 1, 1)
    for step in program.steps:
        yield from _within(step, once, program.max_tokens, plan.row_block, program)


def _within(step: p.Step, times: Times, rows: int, row_block: int, program: p.Program) -> Iterator[tuple[p.Op, Times]]:
    inner = times
    if isinstance(step, p.Loop):
        inner = Times(times.runs * step.count, times.blocks, times.rows, times.in_steps)
    elif isinstance(step, p.Blocks) and not times.in_steps:
        inner = Times(times.runs, -(-rows // row_block), rows)
    elif isinstance(step, p.Repeat) and step.over == "steps":
        assert program.target is not None
        inner = Times(steps_of(program), 1, program.target.search.beams, in_steps=True)
    elif not isinstance(step, p.Blocks | p.Repeat):
        yield step, times
        return
    for part in step.body:
        yield from _within(part, inner, rows, row_block, program)


def _touched(op: p.Op, buffer: p.Buffer, times: Times, program: p.Program, target: Target) -> Fraction:
    """How often all bytes of a buffer are, in one run of an op over all its blocks."""
    layer = Fraction(1, buffer.layers)
    if isinstance(op, p.Attention) and buffer in (op.keys, op.values, op.key_rows):
        written_so_far = Fraction(1, 2) if buffer.rows == "steps" else Fraction(1)
        tiles = 1 if times.in_steps else -(-times.rows // target.attention_tile_rows)
        return layer * written_so_far * tiles
    if buffer.rows == "steps":  # the row of this step
        return layer / steps_of(program)
    again = 1
    if isinstance(op, p.Linear | p.Best) and buffer == op.input:
        outputs = op.count if isinstance(op, p.Best) else op.out.width
        again = -(-outputs // PANEL_WIDTH)
    if buffer.rows == "tokens":
        one_row = times.rows == 1 and times.blocks == 1 and any(out.rows == "one" for out in writes(op))
        whole = not one_row or (isinstance(op, p.Pool) and op.kind != "first")
        return layer * again * (1 if whole else Fraction(1, program.max_tokens))
    return Fraction(again * times.blocks if buffer.rows == "block" else again)


def _scratch_uses(op: p.Op, times: Times, target: Target) -> int:
    if isinstance(op, p.Attention):
        return op.shape.heads * -(-times.rows // target.attention_tile_rows)
    if isinstance(op, p.Linear | p.Best):
        outputs = op.count if isinstance(op, p.Best) else op.out.width
        return times.blocks * -(-outputs // PANEL_WIDTH)
    return times.rows
