# SPDX-License-Identifier: Apache-2.0
"""What a front-end makes: the model as few, general ops over named values, in float, without any recipe.

A value is rows of `width` floats: one row per token, one row per text after `Pool`, one per mask after `Masked`. Ops
run in the order of `body`. `Layers` repeats its body; a parameter inside holds one array per layer, and the values that
the body reads before writing are carried from layer to layer under the same name.

A graph that generates has a second phase, `repeat`, which runs once for each token of the target: its values have a row
per step. What it computes from rows of tokens alone is the same in every step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from .convolutions import CausalConvolution, CenteredConvolution, DynamicConvolution
from .delta_rule import DeltaRule
from .experts import Experts
from .fourier_rows import FourierRows
from .global_rows import GlobalRows
from .in_place import Cap, Normalize, Softmax, Xielu
from .op import ByLayer, at_layer, attribute, packed, parts, read, slots, updated, weights, written
from .parameter import Parameter
from .row_groups import FirstRow, GroupRows, RowOfToken, SpreadRows
from .row_pooling import Copy, PooledScores, PoolRows, Upsample
from .several import task_of_heads
from .state_space import StateSpace
from .target_rules import TargetRules
from .task import Task

Index = Literal["ids", "segments", "positions", "hashes"]


@dataclass(frozen=True)
class Term:
    """Of an embedding: the table's entries [id], [segment], or [first + position in the text], times `factor`. In the
    phase that repeats, id and position are those of the token that the step reads.

    Of a neighbor the id is that of the token `shift` rows later in the same text (below 0: earlier); where there is
    none it is `outside`, or the entry zeros.

    By hashes the entry is a row for each of `hashes` functions of the id (`hashes.py`), side by side, each from those
    of its function in the table.

    A token of the id `dropped` has zeros, and the entries of its text's others are larger by as much: times all tokens
    of the text by those that are not dropped."""

    table: Parameter = weights()
    by: Index = attribute()
    first: int = attribute(default=0)
    factor: float | None = attribute(default=None)
    shift: int = attribute(default=0)
    outside: int | None = attribute(default=None)
    dropped: int | None = attribute(default=None)
    hashes: int | None = attribute(default=None)


@dataclass(frozen=True)
class Embed:
    """out = the sum of its terms' entries, from left to right."""

    terms: tuple[Term, ...] = parts()
    out: str = written()


NormKind = Literal["layer", "rms", "affine"]
AFFINE_LIMIT = 2.0**32  # what the runtime keeps the rows of an affine norm within


@dataclass(frozen=True)
class Norm:
    """Rows of `input`, normalized, times gamma, plus beta: by mean and deviation, or by the root of the mean square; an
    `affine` one leaves the first step out. `out` may be `input`. Of several `heads` each is normalized by itself; all
    have the same gamma and beta, or, where it divides, each its own, one behind the other.

    Affine rows are as large as what they are made of: MobileBERT's reach 10^9. The runtime keeps them within -2^32 and
    2^32, so that no text makes one that float32 cannot hold; linears up to the next may multiply that by 2^18
    (quantize/bounds.py)."""

    name: str = attribute()
    gamma: Parameter = weights()
    beta: Parameter | None = weights()
    epsilon: float | None = attribute()  # None: nothing is divided
    input: str = read()
    out: str = written()
    kind: NormKind = attribute(default="layer")
    heads: int = attribute(default=1)


@dataclass(frozen=True)
class Linear:
    """out = activation(input W^T + b) + residual. The weight may be the table of a `Term`.

    With `only` just these rows of each text are computed, which is all that is read of them."""

    name: str = attribute()
    weight: Parameter = weights()
    bias: Parameter | None = weights()
    input: str = read()
    out: str = written()
    activation: str = attribute(default="none")
    residual: str | None = read(default=None)
    exact: bool = attribute(default=False)  # stays f32 in every recipe: the last linear of a head
    only: GlobalRows | None = attribute(default=None)


@dataclass(frozen=True)
class Multiply:
    """out = a * b, element by element."""

    a: str = read()
    b: str = read()
    out: str = written()


@dataclass(frozen=True)
class Add:
    """out = a + b, element by element: the residual of a block whose rows a norm changes first."""

    a: str = read()
    b: str = read()
    out: str = written()


@dataclass(frozen=True)
class Rotary:
    """In place: each head's first `rotated` values turned by their row's position, the first half with the second.
    The tables are [positions, rotated / 2]; where there are several, `table` says which one."""

    cosines: tuple[Parameter, ...] = weights()
    sines: tuple[Parameter, ...] = weights()
    heads: int = attribute()
    value: str = updated()
    table: int | ByLayer = attribute(default=0)


Mask = Literal["none", "causal", "window", "past", "blocks"]
MAX_WINDOW = 1 << 20  # tokens; a position and a window have a sum of 32 bits


@dataclass(frozen=True)
class Attention:
    """out = softmax(query key^T * scale + bias) value, head by head, over whole texts.

    In the phase that repeats, keys and values are those of all steps so far (`causal`, `past`), or of the tokens of the
    text.

    `query` and `out` have `heads` heads, `key` and `value` `key_heads` of them, head h reading the one at
    h * key_heads / heads. A query sees keys up to itself (`causal`), at most `window` tokens away (`window`), or both
    (`past`), or those of its own of the blocks of `window` tokens that a text is parted into (`blocks`). Of a text the
    keys of its `global_rows` are seen beside those of the `window`. `bias` is [heads, distances], the distance
    key - query from -(max_tokens - 1) on.

    Disentangled (He et al. 2021, arXiv:2006.03654): `relative_keys` and `relative_queries` are [rows, heads * width];
    `relative_rows` names one of their rows for each distance, never an earlier one for a larger distance. The score of
    query i and key j is (q_i k_j + q_i relative_key + k_j relative_query) * scale; either of the two may be missing.

    With `only` the queries are these rows of each text; the other rows of `out` are those of `others`, which is the
    same value: they stay.

    `sinks` are a score of each head [heads], beside the scaled ones, that takes part in the softmax and has no value;
    in layers, with a mask of the past.

    `pooled` says how scores depend on rows that are pooled, by `relative_keys`, `segment_keys` [2, heads * width] (the
    first row for different segments) and a `bias` of [heads * 2, rows of relative keys].
    """

    query: str = read()
    key: str = packed()
    value: str = packed()
    out: str = written()
    heads: int = attribute()
    key_heads: int | None = attribute(default=None)  # `heads` where None
    scale: float | None = attribute(default=None)  # 1 / sqrt(head width) where None
    mask: Mask | ByLayer = attribute(default="none")
    window: int | ByLayer | None = attribute(default=None)
    bias: Parameter | None = weights(default=None)
    relative_keys: Parameter | None = weights(default=None)
    relative_queries: Parameter | None = weights(default=None)
    relative_rows: tuple[int, ...] = attribute(default=())  # by distance as `bias`; empty without the two
    global_rows: GlobalRows = attribute(default=0)
    only: GlobalRows | None = attribute(default=None)
    others: str | None = read(default=None)
    cap: float | None = attribute(default=None)  # of scores before the bias, as that of `Cap`
    pooled: PooledScores | None = attribute(default=None)
    segment_keys: Parameter | None = weights(default=None)
    sinks: Parameter | None = weights(default=None)


@dataclass(frozen=True)
class Recurrence:
    """Of a GRU: what a direction multiplies the row before by, W [3 * width, width], gates in the order r, z, n."""

    name: str = attribute()
    weight: Parameter = weights()
    bias: Parameter | None = weights()


@dataclass(frozen=True)
class Gru:
    """A layer of PyTorch's GRU behind its input products: `input` has for each direction 3 * width values, which the
    input's bias is part of, `out` width of them. The first direction goes from a text's first row to its last, a second
    one back. With a of the row, h = out of the row before in that direction, 0 at its begin, and b = W h + bias:

        r = sigmoid(a_r + b_r), z = sigmoid(a_z + b_z), n = tanh(a_n + r * b_n), out = (1 - z) * n + z * h
    """

    directions: tuple[Recurrence, ...] = parts()
    input: str = read()
    out: str = written()


Pooling = Literal["first", "last", "mean", "max", "mean_sqrt", "weighted_mean", "ends"]


@dataclass(frozen=True)
class Pool:
    """One row from the rows of each text: the first, the last, their mean, their maxima, their sum / sqrt(their
    number), their mean where the first weighs 1, the second 2 and so on, or the first half of the last row and the
    second half of the first (the last states of two directions).

    With an `end` the last row is that of the first token of this id, where a text has one. What `beside` names stands
    behind it in the same row, one after the other. Of a row's `columns` the first so many; None: all."""

    kind: Pooling = attribute()
    input: str = read()
    out: str = written()
    end: int | None = attribute(default=None)
    beside: tuple[Pooling, ...] = attribute(default=())
    columns: int | None = attribute(default=None)

    @property
    def only_first(self) -> bool:
        """Whether no other row is read."""
        return self.kind == "first" and not self.beside


@dataclass(frozen=True)
class Masked:
    """One row for each mask of a text: those of `input` at the tokens of this id, in their order."""

    id: int = attribute()
    input: str = read()
    out: str = written()


@dataclass(frozen=True)
class Best:
    """out = of softmax(input W^T + b) the `count` largest entries of each row, the largest first and of equal ones the
    one that comes first: their indices, then their probabilities. The weight may be the table of a `Term`."""

    name: str = attribute()
    weight: Parameter = weights()
    bias: Parameter | None = weights()
    count: int = attribute()
    input: str = read()
    out: str = written()


WordPooling = Literal["max", "sum"]


@dataclass(frozen=True)
class WordWeights:
    """One row from the rows of each text, a value for each entry of the vocabulary: of log(1 + max(0, input W^T + b))
    the largest over the rows, or their sum. Where `twice`, it is log(1 + that). The weight may be the table of a
    `Term`."""

    name: str = attribute()
    weight: Parameter = weights()
    bias: Parameter | None = weights()
    pooling: WordPooling = attribute()
    twice: bool = attribute()
    input: str = read()
    out: str = written()


_Convolution = CausalConvolution | CenteredConvolution | DynamicConvolution | FourierRows
_Pooling = PoolRows | Upsample | Copy | GroupRows | FirstRow | SpreadRows | RowOfToken
_OfRows = Embed | Norm | Linear | Multiply | Add | Xielu | _Convolution | Rotary | Attention | Gru | Experts | _Pooling
Op = _OfRows | DeltaRule | StateSpace | Pool | Masked | Best | WordWeights | Normalize | Softmax | Cap
OPS: tuple[type, ...] = get_args(Op)


@dataclass(frozen=True)
class Layers:
    """`count` times the same ops; `name` in the singular, as in `encoder_layer`."""

    name: str
    count: int
    body: tuple[Op, ...]


Node = Op | Layers


@dataclass(frozen=True)
class Head:
    """A result: the value that a task is about, one row per text, token or mask, as the task says."""

    task: Task
    value: str
    name: str = ""  # of one of several


@dataclass(frozen=True)
class Phase:
    """A part of a graph: what runs once for each text, or once for each step."""

    kind: Literal["once", "repeat"]
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Graph:
    widths: dict[str, int]  # of every value
    body: tuple[Node, ...]  # of the phase that runs once
    heads: tuple[Head, ...]
    vocabulary: int
    segments: int
    max_tokens: int
    notes: tuple[str, ...] = ()  # what the front-end left out or assumed, for the report
    repeat: tuple[Node, ...] = ()  # body of the phase that repeats
    target_rules: TargetRules | None = None  # what it writes

    @property
    def phases(self) -> tuple[Phase, ...]:
        """In the order in which they run."""
        once = Phase("once", self.body)
        return (once, Phase("repeat", self.repeat)) if self.repeat else (once,)

    @property
    def task(self) -> Task:
        """Of the heads."""
        return task_of_heads(self.heads)


def ops_in(node: Node) -> tuple[Op, ...]:
    """The ops of a node once."""
    return node.body if isinstance(node, Layers) else (node,)


def ops_of(graph: Graph) -> Iterator[tuple[Op, Layers | None]]:
    """Every op once, with the layers that it is in."""
    for node in (node for phase in graph.phases for node in phase.body):
        if isinstance(node, Layers):
            yield from ((op, node) for op in node.body)
        else:
            yield node, None


def runs_of(graph: Graph) -> Iterator[tuple[Op, int]]:
    """Every op as often as it runs in a pass over all phases, with its layer; attributes are those of that layer."""
    for phase in graph.phases:
        yield from runs_of_phase(phase)


def runs_of_phase(phase: Phase) -> Iterator[tuple[Op, int]]:
    """The same of one phase."""
    for node in phase.body:
        if isinstance(node, Layers):
            yield from ((at_layer(op, layer), layer) for layer in range(node.count) for op in node.body)
        else:
            yield node, 0


def parameters_of(graph: Graph) -> Iterator[Parameter]:
    """Every parameter once for each op that has it."""
    for op, _ in ops_of(graph):
        yield from slots(op)
