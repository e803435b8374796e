# SPDX-License-Identifier: Apache-2.0
"""What lowering makes of a graph: the runtime's ops over arena buffers and weight tables, in the order of execution.

This is the value that the planner lays out, the emulator executes and the renderer writes down. Each op here is an op
of the runtime (runtime/include/etch/ops); `kind` says which operand type it works on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from .attention_shape import HeadShape, SoftCap
from .global_rows import GlobalRows
from .graph import Index, Mask, NormKind, Pooling, Target, WordPooling
from .op import ByLayer, attribute, earlier, packed, parts, read, updated, weights, written
from .several import task_of_heads
from .task import Task
from .weights import (
    GROUP,
    ConvolutionWeights,
    EmbeddingWeights,
    F32Matrix,
    FloatTable,
    IndexTable,
    Integers,
    LinearWeights,
    LookedUp,
    NormWeights,
    RelativeWeights,
    S4Matrix,
    S7Matrix,
    S8Matrix,
    Weights,
    WeightSlot,
    of_table,
)

__all__ = [
    "CACHES",
    "GROUP",
    "OPS",
    "VOCABULARY_BLOCK",
    "Add",
    "Attention",
    "Best",
    "Blocks",
    "Buffer",
    "Cap",
    "CausalConvolution",
    "ConvolutionWeights",
    "EmbeddingMean",
    "EmbeddingSum",
    "EmbeddingTerm",
    "EmbeddingWeights",
    "F32Matrix",
    "FloatTable",
    "Gru",
    "HeadShape",
    "IndexTable",
    "Integers",
    "Kind",
    "Linear",
    "LinearWeights",
    "LookedUp",
    "Loop",
    "Masked",
    "Multiply",
    "Norm",
    "NormWeights",
    "Normalize",
    "Op",
    "Output",
    "PackKeyRows",
    "PackKeys",
    "PackValues",
    "Pool",
    "Program",
    "Quantize",
    "RelativeWeights",
    "Repeat",
    "Rotary",
    "Rows",
    "S4Matrix",
    "S7Matrix",
    "S8Matrix",
    "SoftCap",
    "Softmax",
    "Step",
    "Storage",
    "WeightSlot",
    "Weights",
    "WordWeights",
    "of_table",
]

Kind = Literal["s8", "f32"]
Rows = Literal["tokens", "block", "one", "masks", "steps", "sequences"]
Storage = Literal["f32", "quantized", "keys", "values", "key_rows", "state"]
CACHES = ("keys", "values", "key_rows")  # of all rows, packed by head
KEPT = ("steps", "sequences")  # rows that are there from step to step


@dataclass(frozen=True)
class Buffer:
    """Activations in the arena: one row per token of the text, per row of the current block, per mask of the current
    block of masks, per step, per sequence that is written, or one row.

    Keys and values are `heads` packed matrices each, rows of keys `heads` times rows that a product reads; `kind` is
    then what their elements are. A state is what a sequence keeps of its last steps, in floats. Those that what repeats
    reads are there for each of `layers`, one behind the other.
    """

    name: str
    storage: Storage
    rows: Rows
    width: int
    heads: int = 1
    kind: Kind = "f32"
    layers: int = 1


# --- ops -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EmbeddingTerm:
    table: WeightSlot = weights()
    by: Index = attribute()
    first: int = attribute(default=0)
    factor: np.float32 | None = attribute(default=None)
    shift: int = attribute(default=0)  # by id: of the token so many rows later in the text
    outside: int | None = attribute(default=None)  # the id where there is none; None: zeros
    dropped: int | None = attribute(default=None)  # the id of tokens without an entry, for which others' are larger


@dataclass(frozen=True)
class EmbeddingSum:
    kind: Kind = attribute()
    terms: tuple[EmbeddingTerm, ...] = parts()
    out: Buffer = written()


@dataclass(frozen=True)
class EmbeddingMean:
    """Of the entries of a text's tokens, in one row: one term, by id as it is. They have no rows of their own."""

    kind: Kind = attribute()
    terms: tuple[EmbeddingTerm, ...] = parts()
    out: Buffer = written()


@dataclass(frozen=True)
class Norm:
    kind: NormKind = attribute()
    weights: WeightSlot = weights()
    input: Buffer = read()
    out: Buffer = written()
    heads: int = attribute(default=1)

    @property
    def head_width(self) -> int:
        return self.input.width // self.heads

    @property
    def heads_with_weights(self) -> int:
        """1 where all have the same, or there is but one."""
        entry = self.weights.stored[0]
        assert isinstance(entry, NormWeights)
        return entry.gamma.shape[0] // self.head_width


@dataclass(frozen=True)
class Quantize:
    input: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class Linear:
    kind: Kind = attribute()
    weights: WeightSlot = weights()
    input: Buffer = read()
    activation: str = attribute()
    residual: Buffer | None = read()
    out: Buffer = written()
    only: GlobalRows | None = attribute(default=None)


@dataclass(frozen=True)
class Multiply:
    a: Buffer = read()
    b: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class Add:
    a: Buffer = read()
    b: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class CausalConvolution:
    """Of all rows of a text, or of those of a step: then `state` has the rows before them, and gets them."""

    weights: WeightSlot = weights()
    input: Buffer = earlier()
    out: Buffer = written()
    state: Buffer | None = written(default=None)

    @property
    def before(self) -> int:
        """How many rows before its own a row takes from."""
        entry = self.weights.stored[0]
        assert isinstance(entry, ConvolutionWeights)
        return len(entry.taps) - 1


@dataclass(frozen=True)
class Rotary:
    cosines: tuple[WeightSlot, ...] = weights()
    sines: tuple[WeightSlot, ...] = weights()
    heads: int = attribute()
    rows: Buffer = updated()
    table: int | ByLayer = attribute(default=0)  # of the tables the one that is meant


@dataclass(frozen=True)
class PackKeys:
    shape: HeadShape = attribute()
    input: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class PackKeyRows:
    """Keys once more, as the rows of a product with relative queries."""

    shape: HeadShape = attribute()
    input: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class PackValues:
    shape: HeadShape = attribute()
    input: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class Attention:
    kind: Kind = attribute()
    shape: HeadShape = attribute()
    score_scale: np.float32 = attribute()  # log2(e) times the graph's scale
    query: Buffer = read()
    keys: Buffer = packed()
    values: Buffer = packed()
    context: Buffer = written()
    mask: Mask | ByLayer = attribute(default="none")
    window: int | ByLayer | None = attribute(default=None)
    bias: WeightSlot | None = weights(default=None)  # [heads][distances], times log2(e)
    relative_keys: WeightSlot | None = weights(default=None)
    relative_queries: WeightSlot | None = weights(default=None)
    relative_rows: WeightSlot | None = weights(default=None)  # by distance the row of these two
    key_rows: Buffer | None = packed(default=None)  # where there are relative queries
    global_rows: GlobalRows = attribute(default=0)
    only: GlobalRows | None = attribute(default=None)
    others: Buffer | None = read(default=None)  # `context`, where there are others
    cap: SoftCap | None = attribute(default=None)  # of scores, its limit times log2(e)


@dataclass(frozen=True)
class Gru:
    """Weights [3 * width, width] of one direction or two."""

    kind: Kind = attribute()
    weights: tuple[WeightSlot, ...] = weights()
    input: Buffer = read()
    out: Buffer = written()

    @property
    def width(self) -> int:
        """Of a direction's rows."""
        return self.out.width // len(self.weights)


@dataclass(frozen=True)
class Pool:
    kind: Pooling = attribute()
    input: Buffer = read()
    out: Buffer = written()
    end: int | None = attribute(default=None)
    beside: tuple[Pooling, ...] = attribute(default=())

    @property
    def kinds(self) -> tuple[Pooling, ...]:
        """In the order in which they stand in the row."""
        return (self.kind, *self.beside)


@dataclass(frozen=True)
class Masked:
    id: int = attribute()
    input: Buffer = read()
    out: Buffer = written()


VOCABULARY_BLOCK = 512  # etch::kVocabularyBlock: entries whose logits are there at a time


@dataclass(frozen=True)
class Best:
    """Logits of VOCABULARY_BLOCK entries at a time, and what is kept of them: in `sums` the largest so far and the sum
    of powers, in `out`, a row for each mask of the text, the best so far."""

    kind: Kind = attribute()
    weights: WeightSlot = weights()
    count: int = attribute()
    input: Buffer = read()
    logits: Buffer = written()
    sums: Buffer = written()
    out: Buffer = written()


@dataclass(frozen=True)
class WordWeights:
    """Of all rows of a text at once, of a few entries of the vocabulary at a time: their logits are in a worker's
    scratch."""

    kind: Kind = attribute()
    weights: WeightSlot = weights()
    pooling: WordPooling = attribute()
    twice: bool = attribute()
    input: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class Normalize:
    rows: Buffer = updated()


@dataclass(frozen=True)
class Softmax:
    rows: Buffer = updated()


@dataclass(frozen=True)
class Cap:
    rows: Buffer = updated()
    limit: SoftCap = attribute()


Op = (
    EmbeddingSum
    | EmbeddingMean
    | Norm
    | Quantize
    | Linear
    | Multiply
    | Add
    | CausalConvolution
    | Rotary
    | PackKeys
    | PackKeyRows
    | PackValues
    | Attention
    | Gru
    | Pool
    | Masked
    | Best
    | WordWeights
    | Normalize
    | Softmax
    | Cap
)
OPS: tuple[type, ...] = get_args(Op)


@dataclass(frozen=True)
class Blocks:
    """The body once per block of rows; `last_layer_first_row`: in the last layer of the loop only row 0 is needed."""

    body: tuple[Op, ...]
    last_layer_first_row: bool = False


@dataclass(frozen=True)
class Loop:
    """The body once per layer."""

    name: str
    count: int
    body: tuple[Blocks, ...]


@dataclass(frozen=True)
class Repeat:
    """The body again and again: once per text of a batch, on one row each, once per block of a text's masks, or once
    per step of what is generated. What it reads from before it stays intact, and so do the keys and values that steps
    append to. Only the body of a step of generation has loops and blocks."""

    over: Literal["texts", "masks", "steps"]
    body: tuple[Step, ...]


Step = Op | Blocks | Loop | Repeat


@dataclass(frozen=True)
class Output:
    """A result of the program: one row per text, one per token, or one per mask at the first rows of its text."""

    task: Task
    buffer: Buffer
    name: str = ""  # of one of several


@dataclass(frozen=True)
class Program:
    recipe: str
    steps: tuple[Step, ...]
    outputs: tuple[Output, ...]
    vocabulary: int
    segments: int
    max_tokens: int
    target: Target | None = None  # what the repeated steps write

    @property
    def task(self) -> Task:
        """Of the outputs."""
        return task_of_heads(self.outputs)

    @property
    def output(self) -> Buffer:
        """The first one."""
        return self.outputs[0].buffer
