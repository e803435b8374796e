# SPDX-License-Identifier: Apache-2.0
"""When each buffer of a program is alive: from the op that writes it to the last that reads it, back edges included.

Found by walking the steps backwards until nothing changes. What a loop or a repeated step reads before it writes it is
alive all around it, and so is what it reads from before. Blocks of rows take turns, so that a buffer with a row per
token, or one that a block hands to the next, is alive through all of a step that works on blocks of it. Keys and values
that are packed for each layer are there all around the loop, and those that steps append to all around what is
repeated.
"""

from __future__ import annotations

from ..ir import program as p
from ..ir import walks
from ..ir.op import reads, writes
from ..ir.stage import Stage

Lives = dict[str, tuple[int, int]]  # first and last op


def lives_of(program: p.Program) -> Lives:
    """Of every buffer, with ops numbered as in `op_names`."""
    walk = _Walk()
    steps: list[tuple[int, p.Step]] = []
    index = 1  # op 0 is tokenization
    for step in program.steps:
        steps.append((index, step))
        index += sum(1 for _ in walks.ops_in(step))
    alive = {output.buffer for output in program.outputs}
    for first, step in reversed(steps):
        alive = walk.before(step, first, alive)
    return walk.lives


def op_names(program: p.Program) -> list[str]:
    """What the numbers of the ops stand for; op 0 is tokenization."""
    return ["tokenize", *(NAME(op) for op in walks.ops_of(program))]


# What an op is called in reports.
NAME: Stage[str] = Stage("liveness")


@NAME.on(p.Linear, p.Norm, p.Xielu, p.CausalConvolution, p.CenteredConvolution, p.DeltaRule, p.ExpertLinear)
@NAME.on(p.StateSpace)
def _of_weights(
    op: p.Linear
    | p.Norm
    | p.Xielu
    | p.CausalConvolution
    | p.CenteredConvolution
    | p.DeltaRule
    | p.ExpertLinear
    | p.StateSpace,
) -> str:
    return op.weights.name


@NAME.on(p.Gru)
def _of_first_direction(op: p.Gru) -> str:
    return op.weights[0].name


@NAME.on(*(p.EmbeddingSum, p.Quantize, p.Multiply, p.Add, p.Rotary, p.PackKeys, p.PackKeyRows, p.PackValues))
@NAME.on(p.PackRows, p.DynamicConvolution, p.FourierRows, p.Upsample, p.Copy)
@NAME.on(p.GroupRows, p.FirstRow, p.SpreadRows, p.RowOfToken)
@NAME.on(p.ChooseExperts, p.SelectRows, p.MixExperts)
@NAME.on(*(p.EmbeddingMean, p.Attention, p.Pool, p.Masked, p.Best, p.WordWeights, p.Normalize, p.Softmax, p.Cap))
def _of_kind(op: p.Op) -> str:
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(op).__name__)
    return words.lstrip("_")


class _Walk:
    def __init__(self) -> None:
        self.lives: Lives = {}

    def before(self, step: p.Step, first: int, after: set[p.Buffer]) -> set[p.Buffer]:
        """What is alive before a step whose first op is number `first`."""
        if isinstance(step, p.Op):
            return self.ops((step,), first, after)
        return BEFORE(step, self, first, after)

    def _lasting(self, repeated: p.Loop | p.Repeat, first: int) -> None:
        """What each layer or step adds to."""
        ops = tuple(walks.ops_in(repeated))
        for buffer in (buffer for op in ops for buffer in writes(op)):
            if buffer.layers > 1 or buffer.rows in p.KEPT:
                self._extend(buffer.name, first)
                self._extend(buffer.name, first + len(ops) - 1)

    def until_stable(self, repeated: p.Loop | p.Repeat, first: int, after: set[p.Buffer]) -> set[p.Buffer]:
        self._lasting(repeated, first)
        before: set[p.Buffer] = set()
        while True:
            alive = after | before  # behind the body comes what follows the step, or the body again
            index = first + sum(1 for _ in walks.ops_in(repeated))
            for step in reversed(repeated.body):
                index -= sum(1 for _ in walks.ops_in(step))
                alive = self.before(step, index, alive)
            if alive <= before:
                return before
            before |= alive

    def in_turns(self, blocks: p.Blocks | p.Repeat, first: int, after: set[p.Buffer]) -> set[p.Buffer]:
        """Of blocks of rows, or of masks."""
        touched = {buffer for op in blocks.body for buffer in (*reads(op), *writes(op))}
        long = {buffer for buffer in touched if buffer.rows in ("tokens", "carried")}
        return self.ops(tuple(walks.ops_in(blocks)), first, after, throughout=long)

    def ops(
        self, ops: tuple[p.Op, ...], first: int, after: set[p.Buffer], throughout: set[p.Buffer] | None = None
    ) -> set[p.Buffer]:
        alive = set(after)
        for index in reversed(range(first, first + len(ops))):
            op = ops[index - first]
            for buffer in alive | set(reads(op)) | set(writes(op)) | (throughout or set()):
                self._extend(buffer.name, index)
            alive = (alive - set(writes(op))) | set(reads(op))
        return alive

    def _extend(self, name: str, index: int) -> None:
        low, high = self.lives.get(name, (index, index))
        self.lives[name] = min(low, index), max(high, index)


# What is alive before a step that holds others.
BEFORE: Stage[set[p.Buffer]] = Stage("liveness")


@BEFORE.on(p.Blocks)
def _blocks(step: p.Blocks, walk: _Walk, first: int, after: set[p.Buffer]) -> set[p.Buffer]:
    return walk.in_turns(step, first, after)


@BEFORE.on(p.Loop)
def _loop(step: p.Loop, walk: _Walk, first: int, after: set[p.Buffer]) -> set[p.Buffer]:
    return walk.until_stable(step, first, after)


@BEFORE.on(p.Repeat)
def _repeat(step: p.Repeat, walk: _Walk, first: int, after: set[p.Buffer]) -> set[p.Buffer]:
    return (walk.in_turns if step.over == "masks" else walk.until_stable)(step, first, after)
