# SPDX-License-Identifier: Apache-2.0
"""The ops of a program: each is an op of the runtime (runtime/include/etch/ops); `kind` says which operand type it
works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from .attention_shape import SoftCap
from .buffer import Buffer, Kind
from .clamped_gate import ClampedGate
from .global_rows import GlobalRows
from .graph import Index, NormKind, Pooling, WordPooling
from .op import attribute, earlier, packed, parts, read, updated, weights, written
from .program_attention import Attention, PackKeyRows, PackKeys, PackValues, Rotary
from .program_experts import ChooseExperts, ExpertLinear, MixExperts, SelectRows
from .row_level_ops import Copy, FirstRow, GroupRows, RowOfToken, SpreadRows, Upsample
from .weights import ConvolutionWeights, NormWeights, WeightSlot


@dataclass(frozen=True)
class EmbeddingTerm:
    table: WeightSlot = weights()
    by: Index = attribute()
    first: int = attribute(default=0)
    factor: np.float32 | None = attribute(default=None)
    shift: int = attribute(default=0)  # by id: of the token so many rows later in the text
    outside: int | None = attribute(default=None)  # the id where there is none; None: zeros
    dropped: int | None = attribute(default=None)  # the id of tokens without an entry, for which others' are larger
    hashes: int | None = attribute(default=None)  # by hashes: so many functions of the id, each with rows of its own


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
    """With `clamped` a is a gate and b a factor, and what it makes of them is written."""

    a: Buffer = read()
    b: Buffer = read()
    out: Buffer = written()
    clamped: ClampedGate | None = attribute(default=None)


@dataclass(frozen=True)
class Add:
    a: Buffer = read()
    b: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class Xielu:
    weights: WeightSlot = weights()
    rows: Buffer = updated()


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
class PackRows:
    """Rows as they are, for what takes from those around a row."""

    input: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class CenteredConvolution:
    weights: WeightSlot = weights()
    input: Buffer = packed()
    out: Buffer = written()

    @property
    def count(self) -> int:
        """Of taps."""
        entry = self.weights.stored[0]
        assert isinstance(entry, ConvolutionWeights)
        return len(entry.taps)


@dataclass(frozen=True)
class FourierRows:
    """As the graph's."""

    input: Buffer = packed()
    out: Buffer = written()


@dataclass(frozen=True)
class DynamicConvolution:
    heads: int = attribute()
    taps: Buffer = read()
    input: Buffer = packed()
    out: Buffer = written()

    @property
    def count(self) -> int:
        """Of taps of a head."""
        return self.taps.width // self.heads


@dataclass(frozen=True)
class DeltaRule:
    """Of all rows of a text, block by block, or of those of a step: `state` has a matrix [key_width, width of a head]
    of each head that the rows before have left, and gets the next one."""

    weights: WeightSlot = weights()
    heads: int = attribute()
    key_heads: int = attribute()
    key_width: int = attribute()
    input: Buffer = read()
    decay: Buffer = read()
    beta: Buffer = read()
    out: Buffer = written()
    state: Buffer = written()

    @property
    def value_width(self) -> int:
        """Of a head's values."""
        return self.out.width // self.heads


@dataclass(frozen=True)
class StateSpace:
    """As a delta rule: `state` has a matrix [state_width, width of a head] of each head."""

    weights: WeightSlot = weights()
    heads: int = attribute()
    groups: int = attribute()
    state_width: int = attribute()
    least_time: np.float32 = attribute()
    most_time: np.float32 = attribute()
    input: Buffer = read()
    time: Buffer = read()
    out: Buffer = written()
    state: Buffer = written()

    @property
    def value_width(self) -> int:
        """Of a head's values."""
        return self.out.width // self.heads


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
    """As in graph.py; `out` may be narrower than `input`: then of the first columns."""

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
    heads: int = attribute(default=1)  # each by itself


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
    | Xielu
    | CausalConvolution
    | PackRows
    | CenteredConvolution
    | DynamicConvolution
    | FourierRows
    | DeltaRule
    | StateSpace
    | Rotary
    | PackKeys
    | PackKeyRows
    | PackValues
    | Attention
    | Upsample
    | Copy
    | GroupRows
    | FirstRow
    | SpreadRows
    | RowOfToken
    | Gru
    | ChooseExperts
    | SelectRows
    | ExpertLinear
    | MixExperts
    | Pool
    | Masked
    | Best
    | WordWeights
    | Normalize
    | Softmax
    | Cap
)
OPS: tuple[type, ...] = get_args(Op)
