# SPDX-License-Identifier: Apache-2.0
"""Programs made of others: shorter texts, other tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from .op import map_slots
from .program import Attention, Blocks, Loop, Op, Program, Repeat, Rotary, Step
from .weights import EmbeddingWeights, Integers, LinearWeights, LookedUp, Weights, WeightSlot


def map_ops(step: Step, change: Callable[[Op], Op]) -> Step:
    """`step` with every op changed."""
    if isinstance(step, Loop | Blocks | Repeat):
        return replace(step, body=tuple(map_ops(inner, change) for inner in step.body))  # type: ignore[arg-type]
    return change(step)


def with_max_tokens(program: Program, tokens: int) -> Program:
    """The same for shorter texts: what is looked up by distance or position and no longer reached is cut off. Tables of
    embeddings stay (with_matrices)."""

    def cut(slot: WeightSlot | None, *part: slice) -> WeightSlot | None:
        if slot is None:
            return None
        tables = (table for table in slot.stored if isinstance(table, LookedUp))
        return replace(slot, stored=tuple(replace(table, values=table.values[part]) for table in tables))

    whole, distances = slice(None), slice(program.max_tokens - tokens, program.max_tokens - 1 + tokens)

    def changed(op: Op) -> Op:
        if isinstance(op, Attention):
            return replace(op, bias=cut(op.bias, whole, distances), relative_rows=cut(op.relative_rows, distances))
        if isinstance(op, Rotary):
            cosines, sines = (tuple(cut(slot, slice(tokens), whole) for slot in of) for of in (op.cosines, op.sines))
            return replace(op, cosines=cosines, sines=sines)
        return op

    return replace(program, max_tokens=tokens, steps=tuple(map_ops(step, changed) for step in program.steps))


def with_matrices(program: Program, matrices: Mapping[str, Integers]) -> Program:
    """The same with other tables for the linears and embeddings that are named by the checkpoint's tensor."""

    def entry(weights: Weights) -> Weights:
        if isinstance(weights, LinearWeights | EmbeddingWeights) and weights.source in matrices:
            return replace(weights, matrix=matrices[weights.source])
        return weights

    def slot(old: WeightSlot) -> WeightSlot:
        return replace(old, stored=tuple(map(entry, old.stored)))

    return replace(program, steps=tuple(map_ops(step, lambda op: map_slots(op, slot)) for step in program.steps))
