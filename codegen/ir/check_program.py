# SPDX-License-Identifier: Apache-2.0
"""Whether a program is sound: every row that an op reads has been computed, caches are complete before anyone attends
to them, widths, kinds and weights agree.

Found by walking the steps as they run, a loop's first layers and its last one, with the rows that each buffer holds:
all, those of the current block, or the first of each text. It knows nothing of how lowering comes to its steps.
"""

from __future__ import annotations

from typing import Literal

from . import program as p
from . import walks
from .check_global_rows import check_blocks
from .check_operands import CHECK, STAGE, refuse, same
from .op import by_layer, earlier_reads, packed_reads, reads, slots, whole_reads, writes
from .stage import Stage

_Held = Literal["nothing", "first", "all"]

READS_ALL: Stage[bool] = Stage(STAGE)  # whether an op that writes one row of a text reads those of all its tokens
WALK: Stage[None] = Stage(STAGE)  # through a step that holds others


def check_program(program: p.Program) -> None:
    """EtchError (stage check) where something does not fit."""
    for op in walks.ops_of(program):
        CHECK(op)
    _check_buffers(program)
    walk = _Walk(program)
    for step in program.steps:
        walk.step(step)
    walk.outputs()
    outside = [step for step in program.steps if not isinstance(step, p.Loop)]
    same("global rows outside layers", [op for step in outside for op in walks.ops_in(step) if walks.only_rows(op)], [])


class _Walk:
    def __init__(self, program: p.Program) -> None:
        self._program = program
        self._held: dict[p.Buffer, _Held] = {}

    def step(self, step: p.Step) -> None:
        """A step with all that is inside."""
        if isinstance(step, p.Op):
            self._whole(step)
        else:
            WALK(step, self)
        if isinstance(step, p.Repeat) and step.over == "steps":
            return  # its steps have been looked at one by one
        self._layers(step)

    def _layers(self, step: p.Step) -> None:
        """What differs by layer does so inside a loop of as many layers."""
        layers_of = step.count if isinstance(step, p.Loop) else None
        for op in walks.ops_in(step):
            for name, value in by_layer(op).items():
                same(f"layers of '{name}' of {type(op).__name__}", len(value.values), layers_of)
        if not isinstance(step, p.Loop):
            layers = [slot.layers for op in walks.ops_in(step) for slot in slots(op)]
            same("layers of weights outside a loop", set(layers) - {1}, set())
            return
        for slot in (slot for op in walks.ops_in(step) for slot in slots(op) if not slot.common):
            same(f"layers of {slot.name}", slot.layers, step.count)

    def loop(self, loop: p.Loop) -> None:
        if loop.count < 1 or not loop.body or not all(blocks.body for blocks in loop.body):
            raise refuse(f"{loop.name}: {loop.count} layers of {[len(blocks.body) for blocks in loop.body]} ops")
        for layer in range(loop.count):
            if 2 <= layer < loop.count - 1:
                continue  # as the one before
            for blocks in loop.body:
                self.blocks(blocks, first_rows=blocks.last_layer_first_row and layer == loop.count - 1)

    def repeat(self, repeat: p.Repeat) -> None:
        if repeat.over == "steps" and self._program.target_rules is not None:
            self._for_step(repeat)
            return
        for step in repeat.body * (2 if repeat.over == "steps" else 1):  # again with what the first one leaves
            if repeat.over == "steps":
                self.step(step)
            elif isinstance(step, p.Loop | p.Blocks | p.Repeat):
                raise refuse(f"{type(step).__name__} inside of what is repeated for each text")
            elif repeat.over == "masks":
                self._for_masks(step)
            else:
                self._for_text(step)

    def outputs(self) -> None:
        """The results are there, as many rows as the tasks take."""
        for output in self._program.outputs:
            if output.task.rows == "steps":
                steps = any(isinstance(step, p.Repeat) and step.over == "steps" for step in self._program.steps)
                same(
                    "steps that write, and what they write",
                    (steps, self._program.target_rules is not None),
                    (True, True),
                )
            one = output.task.rows in ("text", "steps")
            self._need(output.buffer, "first" if one else "all", "the result")
            rows = "one" if one else "tokens"
            same(f"rows of the result '{output.buffer.name}'", output.buffer.rows, rows)
            same(f"width of the result '{output.buffer.name}'", output.buffer.width, output.task.outputs)

    def _whole(self, op: p.Op) -> None:
        """All rows at once."""
        for buffer in (*reads(op), *writes(op)):
            same(f"rows of '{buffer.name}' outside blocks", buffer.rows, "tokens")
        for buffer in reads(op):
            self._need(buffer, "all", type(op).__name__)
        self._held |= dict.fromkeys(writes(op), "all")

    def blocks(self, blocks: p.Blocks, first_rows: bool) -> None:
        wanted: _Held = "first" if first_rows else "all"
        before = dict(self._held)
        made: set[p.Buffer] = set()  # of this block, or for this block's rows
        caches: set[p.Buffer] = set()
        check_blocks(blocks)
        taken: set[p.Buffer] = set()  # of which later blocks read these rows once more
        for op in blocks.body:
            name = type(op).__name__
            for buffer in (*reads(op), *writes(op)):
                if buffer.rows not in ("block", "tokens", "carried"):
                    raise refuse(f"{name} in a block touches '{buffer.name}', which has {buffer.rows} row")
            for buffer in reads(op):
                if buffer.storage in p.CACHES:
                    if before.get(buffer) != "all" or buffer in caches:
                        raise refuse(f"{name} reads '{buffer.name}' before all of it is packed")
                elif buffer in whole_reads(op):
                    self._need(buffer, "nothing" if buffer in made else "all", name)
                elif buffer not in made:
                    if buffer.rows == "block":
                        raise refuse(f"{name} reads '{buffer.name}' before this block has it")
                    self._need(buffer, wanted, name)
            for buffer in writes(op):
                if buffer in taken:
                    raise refuse(f"{name} writes '{buffer.name}' before every block has read it")
                (caches if buffer.storage in p.CACHES else made).add(buffer)
            taken.update((*earlier_reads(op), *packed_reads(op), *whole_reads(op)))
        if caches and first_rows:
            raise refuse("keys and values of first rows only")
        self._held |= dict.fromkeys(caches, "all")
        rows = {buffer for op in blocks.body for buffer in (*reads(op), *writes(op)) if buffer.storage == "f32"}
        # Where only first rows are computed, those of every buffer that has a row per token are moved together.
        self._held |= {buffer: wanted for buffer in rows if buffer.rows == "tokens" and (first_rows or buffer in made)}

    def _for_text(self, op: p.Op) -> None:
        """On the rows of one text."""
        name = type(op).__name__
        for buffer in reads(op):
            if buffer.rows == "block":
                raise refuse(f"{name} reads '{buffer.name}' outside its block")
            self._need(buffer, "all" if READS_ALL(op) else "first", name)
        for buffer in writes(op):
            if buffer.rows != "one" and buffer not in reads(op):
                raise refuse(f"{name} writes '{buffer.name}', which has rows of all texts")
            self._held.setdefault(buffer, "first")

    def _for_masks(self, op: p.Op) -> None:
        """On a block of the masks of one text."""
        name = type(op).__name__
        for buffer in (*reads(op), *writes(op)):
            whole = isinstance(op, p.Masked) and buffer == op.input
            kept = isinstance(op, p.Best) and buffer == op.out
            same(f"rows of '{buffer.name}' of {name}", buffer.rows, "tokens" if whole or kept else "masks")
        for buffer in reads(op):
            self._need(buffer, "all", name)
        self._held |= dict.fromkeys(writes(op), "all")

    def _for_step(self, repeat: p.Repeat) -> None:
        """A step that writes, on one row: nothing is left from the one before but what attentions read."""
        made: set[p.Buffer] = set()
        before: set[p.Buffer] = set()  # caches that an earlier layer appends to
        for part in repeat.body:
            layers = part.count if isinstance(part, p.Loop) else 1
            appended: set[p.Buffer] = set()  # in this layer
            for op in walks.ops_in(part):
                name = type(op).__name__
                for buffer in reads(op):
                    if buffer.rows == "tokens" and buffer.storage in ("keys", "values"):
                        self._need(buffer, "all", name)
                    elif buffer not in made | before | appended:
                        raise refuse(f"{name} reads '{buffer.name}' before this step has it")
                for buffer in writes(op):
                    if buffer.rows not in ("one", *p.KEPT):
                        raise refuse(f"{name} of a step writes '{buffer.name}', which has rows of the whole text")
                    if buffer.storage in ("keys", "values") and buffer in before | appended:
                        raise refuse(f"{name} appends to '{buffer.name}' twice in a step")
                    (appended if buffer.rows in p.KEPT else made).add(buffer)
                for buffer in (*reads(op), *writes(op)):
                    same(f"layers of '{buffer.name}'", buffer.layers, 1 if buffer.rows == "one" else layers)
            self._layers(part)
            before |= {buffer for buffer in appended if buffer.storage in ("keys", "values")}
        self._held |= dict.fromkeys(made, "first")

    def _need(self, buffer: p.Buffer, wanted: _Held, name: str) -> None:
        held = self._held.get(buffer, "nothing")
        if held not in ("all", wanted):
            raise refuse(
                f"{name} reads {'every row' if wanted == 'all' else 'the first row'} of '{buffer.name}', "
                f"which holds {'the first rows only' if held == 'first' else 'nothing'}"
            )


@WALK.on(p.Loop)
def _loop(step: p.Loop, walk: _Walk) -> None:
    walk.loop(step)


@WALK.on(p.Blocks)
def _blocks(step: p.Blocks, walk: _Walk) -> None:
    walk.blocks(step, first_rows=False)


@WALK.on(p.Repeat)
def _repeat(step: p.Repeat, walk: _Walk) -> None:
    walk.repeat(step)


@READS_ALL.on(p.WordWeights, p.Upsample, p.GroupRows, p.FirstRow, p.SpreadRows, p.RowOfToken)
def _every_row(op: p.WordWeights) -> bool:
    return True


@READS_ALL.on(p.Pool)
def _pooled(op: p.Pool) -> bool:
    return op.kinds != ("first",)


@READS_ALL.on(*(p.EmbeddingSum, p.Norm, p.Quantize, p.Linear, p.Multiply, p.Add, p.CausalConvolution, p.Rotary))
@READS_ALL.on(p.PackRows, p.CenteredConvolution, p.DynamicConvolution, p.FourierRows, p.Copy, p.DeltaRule, p.StateSpace)
@READS_ALL.on(*(p.PackKeys, p.PackKeyRows, p.PackValues, p.Attention, p.Gru, p.Masked, p.Best, p.Normalize))
@READS_ALL.on(p.Xielu, p.ChooseExperts, p.SelectRows, p.ExpertLinear, p.MixExperts, p.EmbeddingMean, p.Softmax, p.Cap)
def _one_row(op: p.Op) -> bool:
    return False


def _check_buffers(program: p.Program) -> None:
    known: dict[str, p.Buffer] = {}
    for buffer in walks.buffers_of(program):
        # Buffers of one name share bytes: rows of blocks and single rows of one value may be different buffers.
        other = known.setdefault(buffer.name, buffer)
        if other != buffer:
            raise refuse(f"two buffers are called '{buffer.name}'")
    weights: dict[str, p.WeightSlot] = {}
    for op in walks.ops_of(program):
        for slot in slots(op):
            if weights.setdefault(slot.name, slot) is not slot:
                raise refuse(f"two weights are called '{slot.name}'")
