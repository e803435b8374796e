# SPDX-License-Identifier: Apache-2.0
"""What a recipe makes of a graph: the runtime's ops over arena buffers and weight tables, in the order of execution.

This is the value that the planner lays out, the emulator executes and the renderer writes down. Each op here is an op
of the runtime (runtime/include/etch/ops); `kind` says which operand type it works on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .graph import Pooling
from .tasks import Task

Kind = Literal["s8", "f32"]
Rows = Literal["tokens", "block", "one"]
Storage = Literal["f32", "quantized", "keys", "values"]


@dataclass(frozen=True)
class Buffer:
    """Activations in the arena: one row per token of the text, per row of the current block, or one row."""

    name: str
    storage: Storage
    rows: Rows
    width: int


# --- weights ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class S8Matrix:
    """w[n][k] = q[n][k] * scales[n]."""

    q: NDArray[np.int8]
    scales: NDArray[np.float32]


GROUP = 32  # etch::kS4Group


@dataclass(frozen=True)
class S4Matrix:
    """w[n][k] = (q[n][k] * factors[n][k // 32]) * scales[n]; q in [-8, 7], factors >= 1, |q * factor| <= 127."""

    q: NDArray[np.int8]
    factors: NDArray[np.uint8]  # [n][groups]
    scales: NDArray[np.float32]

    @property
    def expanded(self) -> S8Matrix:
        """The 8-bit matrix that it stands for."""
        factors = np.repeat(self.factors.astype(np.int8), GROUP, axis=1)[:, : self.q.shape[1]]
        return S8Matrix(self.q * factors, self.scales)


Integers = S8Matrix | S4Matrix


@dataclass(frozen=True)
class F32Matrix:
    values: NDArray[np.float32]


@dataclass(frozen=True)
class LinearWeights:
    """One per layer inside a loop; `source` is the checkpoint's name of the weight."""

    matrix: Integers | F32Matrix
    bias: NDArray[np.float32] | None
    source: str


@dataclass(frozen=True)
class LayerNormWeights:
    gamma: NDArray[np.float32]
    beta: NDArray[np.float32]
    epsilon: np.float32
    inverse_width: np.float32
    source: str


@dataclass(frozen=True)
class EmbeddingWeights:
    matrix: Integers | F32Matrix
    source: str


Weights = LinearWeights | LayerNormWeights | EmbeddingWeights


@dataclass(frozen=True)
class WeightSlot:
    """A place for weights in the generated code: `per_layer[i]` for layer i of a loop, or one entry outside loops."""

    name: str
    per_layer: tuple[Weights, ...]


# --- ops -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EmbeddingSum:
    kind: Kind
    word: WeightSlot
    segment: WeightSlot
    position: WeightSlot
    out: Buffer


@dataclass(frozen=True)
class LayerNorm:
    weights: WeightSlot
    rows: Buffer  # in place


@dataclass(frozen=True)
class Quantize:
    input: Buffer
    out: Buffer


@dataclass(frozen=True)
class Linear:
    kind: Kind
    weights: WeightSlot
    input: Buffer
    activation: str
    residual: Buffer | None
    out: Buffer


@dataclass(frozen=True)
class PackKeys:
    kind: Kind
    input: Buffer
    out: Buffer


@dataclass(frozen=True)
class PackValues:
    kind: Kind
    input: Buffer
    out: Buffer


@dataclass(frozen=True)
class Attention:
    kind: Kind
    query: Buffer
    keys: Buffer
    values: Buffer
    context: Buffer


@dataclass(frozen=True)
class Pool:
    kind: Pooling
    input: Buffer
    out: Buffer


@dataclass(frozen=True)
class Normalize:
    rows: Buffer  # in place


Op = EmbeddingSum | LayerNorm | Quantize | Linear | PackKeys | PackValues | Attention | Pool | Normalize


@dataclass(frozen=True)
class Blocks:
    """The body once per block of rows; `last_layer_first_row`: in the last layer of the loop only row 0 is needed."""

    body: tuple[Op, ...]
    last_layer_first_row: bool


@dataclass(frozen=True)
class Loop:
    """The body once per layer."""

    name: str
    count: int
    body: tuple[Blocks, ...]


Step = Op | Loop


@dataclass(frozen=True)
class HeadShape:
    """Of every attention in the model."""

    heads: int
    width: int
    score_scale: np.float32  # log2(e) / sqrt(width)


@dataclass(frozen=True)
class Program:
    recipe: str
    steps: tuple[Step, ...]
    heads: HeadShape
    output: Buffer  # one row
    task: Task
    vocabulary: int
    segments: int
    max_tokens: int


def ops_of(program: Program) -> list[Op]:
    """Every op once, loops opened, in order."""
    found: list[Op] = []
    for step in program.steps:
        if isinstance(step, Loop):
            for blocks in step.body:
                found.extend(blocks.body)
        else:
            found.append(step)
    return found


def with_matrices(program: Program, matrices: Mapping[str, Integers]) -> Program:
    """The same with other tables for the linears and embeddings that are named by the checkpoint's tensor."""

    def slot(old: WeightSlot) -> WeightSlot:
        per_layer = tuple(
            weights
            if isinstance(weights, LayerNormWeights) or weights.source not in matrices
            else replace(weights, matrix=matrices[weights.source])
            for weights in old.per_layer
        )
        return WeightSlot(old.name, per_layer)

    def changed(op: Op) -> Op:
        if isinstance(op, EmbeddingSum):
            return replace(op, word=slot(op.word), segment=slot(op.segment), position=slot(op.position))
        return replace(op, weights=slot(op.weights)) if isinstance(op, Linear) else op

    def changed_step(step: Step) -> Step:
        if not isinstance(step, Loop):
            return changed(step)
        blocks = tuple(replace(each, body=tuple(changed(op) for op in each.body)) for each in step.body)
        return replace(step, body=blocks)

    return replace(program, steps=tuple(changed_step(step) for step in program.steps))
