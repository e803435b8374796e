# SPDX-License-Identifier: Apache-2.0
"""Programs made of others: shorter texts, other tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from .op import map_slots
from .program import (
    Add,
    Attention,
    Best,
    Blocks,
    Cap,
    CausalConvolution,
    CenteredConvolution,
    ChooseExperts,
    Copy,
    DeltaRule,
    DynamicConvolution,
    EmbeddingMean,
    EmbeddingSum,
    ExpertLinear,
    FirstRow,
    FourierRows,
    GroupRows,
    Gru,
    Linear,
    Loop,
    Masked,
    MixExperts,
    Multiply,
    Norm,
    Normalize,
    Op,
    PackKeyRows,
    PackKeys,
    PackRows,
    PackValues,
    Pool,
    Program,
    Quantize,
    Repeat,
    Rotary,
    RowOfToken,
    SelectRows,
    Softmax,
    SpreadRows,
    StateSpace,
    Step,
    Upsample,
    WordWeights,
    Xielu,
)
from .stage import Stage
from .weights import (
    EmbeddingWeights,
    F32Matrix,
    FloatTable,
    IndexTable,
    Integers,
    LinearWeights,
    RelativeWeights,
    Weights,
    WeightSlot,
)


def map_ops(step: Step, change: Callable[[Op], Op]) -> Step:
    """`step` with every op changed."""
    if isinstance(step, Loop | Blocks | Repeat):
        return replace(step, body=tuple(map_ops(inner, change) for inner in step.body))  # type: ignore[arg-type]
    return change(step)


def with_max_tokens(program: Program, tokens: int) -> Program:
    """The same for shorter texts: what is looked up by distance or position and no longer reached is cut off. Tables of
    embeddings stay (with_matrices)."""

    steps = tuple(map_ops(step, lambda op: CUT(op, program.max_tokens, tokens)) for step in program.steps)
    return replace(program, max_tokens=tokens, steps=steps)


CUT: Stage[Op] = Stage("shorter texts")  # an op whose texts had so many tokens, now so many


@CUT.on(Attention)
def _attention(op: Attention, before: int, tokens: int) -> Op:
    if op.pooled is not None:
        return _cut_pooled(op, op.pooled.reach(before), op.pooled.reach(tokens))
    distances = slice(before - tokens, before - 1 + tokens)
    bias = _cut(op.bias, slice(None), distances)
    return replace(op, bias=bias, relative_rows=_cut(op.relative_rows, distances))


def _cut_pooled(op: Attention, before: int, reach: int) -> Op:
    """Relative keys and biases of the distances that are left."""
    distances = slice(before - reach, before + reach + 1)

    def of_table(entry: Weights) -> Weights:
        assert isinstance(entry, RelativeWeights)
        heads, rows, width = entry.by_head
        matrix = entry.matrix
        if isinstance(matrix, F32Matrix):
            values = matrix.values.reshape(heads, rows, width)[:, distances].reshape(-1, width)
            return replace(entry, matrix=F32Matrix(values))
        q = matrix.q.reshape(heads, rows, width)[:, distances].reshape(-1, width)
        scales = matrix.scales.reshape(heads, rows)[:, distances].reshape(-1)
        return replace(entry, matrix=replace(matrix, q=q, scales=scales))

    assert op.relative_keys is not None
    keys = replace(op.relative_keys, stored=tuple(map(of_table, op.relative_keys.stored)))
    return replace(op, bias=_cut(op.bias, slice(None), distances), relative_keys=keys)


@CUT.on(Rotary)
def _rotary(op: Rotary, before: int, tokens: int) -> Op:
    cosines, sines = (tuple(_of_part(slot, slice(tokens), slice(None)) for slot in of) for of in (op.cosines, op.sines))
    return replace(op, cosines=cosines, sines=sines)


@CUT.on(EmbeddingSum, Norm, Quantize, Linear, Multiply, Add, CausalConvolution, PackKeys, PackKeyRows, PackValues)
@CUT.on(PackRows, CenteredConvolution, DynamicConvolution, FourierRows, Upsample, Copy, DeltaRule, StateSpace)
@CUT.on(GroupRows, FirstRow, SpreadRows, RowOfToken)
@CUT.on(Xielu, ChooseExperts, SelectRows, ExpertLinear, MixExperts)
@CUT.on(EmbeddingMean, Gru, Pool, Masked, Best, WordWeights, Normalize, Softmax, Cap)
def _as_it_is(op: Op, before: int, tokens: int) -> Op:
    return op


def _cut(slot: WeightSlot | None, *part: slice) -> WeightSlot | None:
    return None if slot is None else _of_part(slot, *part)


def _of_part(slot: WeightSlot, *part: slice) -> WeightSlot:
    tables: list[Weights] = []
    for table in slot.stored:
        if isinstance(table, FloatTable):
            tables.append(replace(table, values=table.values[part]))
        if isinstance(table, IndexTable):
            tables.append(replace(table, values=table.values[part]))
    return replace(slot, stored=tuple(tables))


def with_matrices(program: Program, matrices: Mapping[str, Integers]) -> Program:
    """The same with other tables for the linears and embeddings that are named by the checkpoint's tensor."""

    def entry(weights: Weights) -> Weights:
        if isinstance(weights, LinearWeights | EmbeddingWeights) and weights.source in matrices:
            return replace(weights, matrix=matrices[weights.source])
        return weights

    def slot(old: WeightSlot) -> WeightSlot:
        return replace(old, stored=tuple(map(entry, old.stored)))

    return replace(program, steps=tuple(map_ops(step, lambda op: map_slots(op, slot)) for step in program.steps))
