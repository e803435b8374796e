# SPDX-License-Identifier: Apache-2.0
"""Executes a program over texts. Blocks of rows, threads and batches do not change a bit, so all rows run at once."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import program as p
from ..ir import walks
from ..ir.check_supported import check_phases
from ..ir.op import at_layer
from ..ir.stage import Stage
from ..ir.text import Text
from . import recurrences  # noqa: F401 - its entries
from .floats import F32Array
from .ops import EMULATE
from .values import Values, WeightsFor

RUN: Stage[None] = Stage("emulate")  # a step that holds others


def emulate(program: p.Program, ids: Sequence[int], segments: Sequence[int]) -> F32Array:
    """What the program computes for one text: logits, values or an embedding."""
    return emulate_texts(program, [Text(ids, segments)])[0]


def emulate_texts(
    program: p.Program, texts: Sequence[Text], weights_for: WeightsFor | None = None
) -> F32Array | list[F32Array]:
    """The same [texts, outputs], or [tokens, outputs] of each text where the task has a row per token: the same bits as
    text by text, in less time where texts are short.

    `weights_for` may exchange the weights of a linear when its inputs are known.
    """
    return emulate_outputs(program, texts, weights_for)[0]


def emulate_outputs(
    program: p.Program, texts: Sequence[Text], weights_for: WeightsFor | None = None
) -> list[F32Array | list[F32Array]]:
    """Of each output of the program [texts, width], or a list of [tokens, width] or [masks, width]."""
    check_phases(program, "emulate")
    values = Values(program, texts, weights_for)
    for step in program.steps:
        run(step, values)
    return [values.output(output) for output in program.outputs]


def run(step: p.Step, at: Values) -> None:
    """An op, or all that a step holds."""
    if isinstance(step, p.Op):
        _run_ops((step,), at, per_text=False)
    else:
        RUN(step, at)


@RUN.on(p.Loop)
def _loop(step: p.Loop, at: Values) -> None:
    for layer in range(step.count):
        for blocks in step.body:
            if blocks.pools is not None and layer == 0:
                at.pool([buffer.name for buffer in walks.rows_of_tokens(blocks)], blocks.pools)
            _run_ops(blocks.body, at, layer, per_text=blocks.last_layer_first_row and layer == step.count - 1)


@RUN.on(p.Blocks)
def _blocks(step: p.Blocks, at: Values) -> None:
    _run_ops(step.body, at, per_text=False)


@RUN.on(p.Repeat)
def _repeat(step: p.Repeat, at: Values) -> None:
    _run_ops(tuple(walks.ops_in(step)), at, per_text=step.over == "texts")


def _run_ops(ops: Sequence[p.Op], at: Values, layer: int = 0, *, per_text: bool) -> None:
    """In layer `layer` of their loop, for all rows or for one of each text."""
    at.layer, at.per_text = layer, per_text
    for op in ops:
        EMULATE(at_layer(op, layer), at)
