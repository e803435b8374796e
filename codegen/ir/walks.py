# SPDX-License-Identifier: Apache-2.0
"""Ways through a program: its ops, buffers, layers and weights, each in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .global_rows import GlobalRows
from .op import reads, slots, whole_reads, writes
from .program import Attention, Blocks, Buffer, CausalConvolution, GroupRows, Linear, Loop, Op, Program, Repeat, Step
from .weights import WeightSlot


def ops_in(step: Step) -> Iterator[Op]:
    """Every op of a step once, in order."""
    yield from (op for op, _ in located(step))


def located(step: Step, loop: Loop | None = None) -> Iterator[tuple[Op, Loop | None]]:
    """Every op of a step once, in order, with the loop that it is in."""
    if isinstance(step, Loop | Blocks | Repeat):
        for inner in step.body:
            yield from located(inner, step if isinstance(step, Loop) else loop)
    else:
        yield step, loop


def ops_of(program: Program) -> list[Op]:
    """Every op once, loops opened, in order."""
    return [op for step in program.steps for op in ops_in(step)]


def buffers_of(program: Program) -> list[Buffer]:
    """Every buffer, in the order of first use."""
    return list(dict.fromkeys(buffer for op in ops_of(program) for buffer in (*reads(op), *writes(op))))


def layers_of(program: Program) -> int:
    """How many layers there are, those before the loop included: each has one attention, or two in a decoder, one of
    them to the text; or a convolution."""
    found: dict[int, list[Op]] = {}
    counts: dict[int, int] = {}
    for op, loop in (each for step in program.steps for each in located(step)):
        found.setdefault(id(loop), []).append(op)
        counts[id(loop)] = 1 if loop is None else loop.count
    return sum(counts[where] * _layers_in(ops) for where, ops in found.items())


def _layers_in(ops: Sequence[Op]) -> int:
    attended = Counter(op.keys.rows for op in ops if isinstance(op, Attention))
    return max(attended.values(), default=0) + sum(isinstance(op, CausalConvolution) for op in ops)


def rows_of_tokens(blocks: Blocks) -> list[Buffer]:
    """The buffers with a row per token that blocks use their rows of."""
    found: dict[Buffer, None] = {}
    for op in blocks.body:
        touched = (*(buffer for buffer in reads(op) if buffer not in whole_reads(op)), *writes(op))
        found |= {buffer: None for buffer in touched if buffer.rows == "tokens" and buffer.storage == "f32"}
    return list(found)


def levels_of(program: Program) -> int:
    """How often rows become fewer."""
    return max((step.level for step in program.steps if isinstance(step, Loop | Blocks)), default=0)


def group_rate(program: Program) -> int | None:
    """Of how many tokens the rows of groups are; None where there are no such rows."""
    return next((op.rate for op in ops_of(program) if isinstance(op, GroupRows)), None)


def slots_of(program: Program) -> list[tuple[WeightSlot, Loop | None]]:
    """Every weight slot in the order of its first use, with the loop that has it by layer."""
    found: dict[str, tuple[WeightSlot, Loop | None]] = {}
    for step in program.steps:
        for op, loop in located(step):
            for slot in slots(op):
                found.setdefault(slot.name, (slot, None if slot.common else loop))
    return list(found.values())


def only_rows(op: Op) -> GlobalRows | None:
    """Those of each text that an op computes, where these are not all."""
    return op.only if isinstance(op, Linear | Attention) else None
