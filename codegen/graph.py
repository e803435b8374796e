# SPDX-License-Identifier: Apache-2.0
"""What a front-end makes: the model as few, general ops over named values, in float, without any recipe.

A value is rows of `width` floats: one row per token, or one row per text after `Pool`. Ops run in the order of
`body`. `Layers` repeats its body; a parameter inside holds one array per layer, and the values that the body reads
before writing are carried from layer to layer under the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from .tasks import Task

F32Array = NDArray[np.float32]


class Array(Protocol):
    """A tensor of the checkpoint that is read when needed, so that large models never lie in memory whole."""

    @property
    def file(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def values(self) -> F32Array: ...


@dataclass(frozen=True)
class Parameter:
    """A named weight: one array, or one per layer inside `Layers`. Linear weights are [outputs, inputs]."""

    name: str
    arrays: tuple[Array, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.arrays[0].shape


@dataclass(frozen=True)
class EmbeddingSum:
    """out = (word[id] + segment[segment]) + position[index]."""

    word: Parameter
    segment: Parameter
    position: Parameter
    out: str


@dataclass(frozen=True)
class LayerNorm:
    """In place: one value, normalized."""

    name: str
    gamma: Parameter
    beta: Parameter
    epsilon: float
    value: str


@dataclass(frozen=True)
class Linear:
    """out = activation(input W^T + b) + residual."""

    name: str
    weight: Parameter
    bias: Parameter | None
    input: str
    out: str
    activation: str = "none"
    residual: str | None = None
    exact: bool = False  # stays f32 in every recipe: the last linear of a head


@dataclass(frozen=True)
class Attention:
    """Self-attention of `heads` heads over whole texts: out = softmax(query key^T / sqrt(head width)) value."""

    query: str
    key: str
    value: str
    out: str
    heads: int


Pooling = Literal["first", "mean", "max", "mean_sqrt"]


@dataclass(frozen=True)
class Pool:
    """One row from the rows of each text: the first, their mean, their maxima, or their sum / sqrt(their number)."""

    kind: Pooling
    input: str
    out: str


@dataclass(frozen=True)
class Normalize:
    """In place: each row divided by its Euclidean length, or by 1e-12 where that is larger."""

    value: str


@dataclass(frozen=True)
class Layers:
    """`count` times the same ops; `name` in the singular, as in `encoder_layer`."""

    name: str
    count: int
    body: tuple[EmbeddingSum | LayerNorm | Linear | Attention, ...]


Op = EmbeddingSum | LayerNorm | Linear | Attention | Pool | Normalize
Node = Op | Layers


@dataclass(frozen=True)
class Graph:
    widths: dict[str, int]  # of every value
    body: tuple[Node, ...]
    output: str  # the value that the task is about: logits, values or an embedding
    task: Task
    vocabulary: int
    segments: int
    max_tokens: int
    notes: tuple[str, ...] = ()  # what the front-end left out or assumed, for the report


def reads(node: Op) -> Sequence[str]:
    """Names of the values that `node` reads."""
    if isinstance(node, Linear):
        return (node.input,) if node.residual is None else (node.input, node.residual)
    if isinstance(node, LayerNorm | Normalize):
        return (node.value,)
    if isinstance(node, Attention):
        return (node.query, node.key, node.value)
    if isinstance(node, Pool):
        return (node.input,)
    return ()


def writes(node: Op) -> str:
    """Name of the value that `node` writes."""
    return node.value if isinstance(node, LayerNorm | Normalize) else node.out
