# SPDX-License-Identifier: Apache-2.0
"""What a front-end makes: the model as few, general ops over named values, in float, without any recipe.

A value is rows of `width` floats: one row per token, or one row per text after `SelectFirst`. Ops run in the order of
`body`. `Layers` repeats its body; a parameter inside holds one array per layer, and the values that the body reads
before writing are carried from layer to layer under the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

F32Array = NDArray[np.float32]


class Array(Protocol):
    """A tensor of the checkpoint that is read when needed, so that large models never lie in memory whole."""

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


@dataclass(frozen=True)
class SelectFirst:
    """The first row of each text: out has one row."""

    input: str
    out: str


@dataclass(frozen=True)
class Layers:
    """`count` times the same ops; `name` in the singular, as in `encoder_layer`."""

    name: str
    count: int
    body: tuple[EmbeddingSum | LayerNorm | Linear | Attention, ...]


Node = EmbeddingSum | LayerNorm | Linear | Attention | SelectFirst | Layers


@dataclass(frozen=True)
class Classification:
    """The task: softmax over the labels."""

    labels: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    widths: dict[str, int]  # of every value
    body: tuple[Node, ...]
    logits: str  # the value that holds the task's logits
    task: Classification
    vocabulary: int
    segments: int
    max_tokens: int


def reads(node: EmbeddingSum | LayerNorm | Linear | Attention | SelectFirst) -> Sequence[str]:
    """Names of the values that `node` reads."""
    if isinstance(node, Linear):
        return (node.input,) if node.residual is None else (node.input, node.residual)
    if isinstance(node, LayerNorm):
        return (node.value,)
    if isinstance(node, Attention):
        return (node.query, node.key, node.value)
    if isinstance(node, SelectFirst):
        return (node.input,)
    return ()


def writes(node: EmbeddingSum | LayerNorm | Linear | Attention | SelectFirst) -> str:
    """Name of the value that `node` writes."""
    return node.value if isinstance(node, LayerNorm) else node.out
