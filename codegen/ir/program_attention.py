# SPDX-License-Identifier: Apache-2.0
"""The ops of a program that let the rows of a text see each other by attention, and what these need of rows first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .attention_shape import HeadShape, SoftCap
from .buffer import Buffer, Kind
from .global_rows import GlobalRows
from .graph import Mask
from .op import ByLayer, attribute, packed, read, updated, weights, written
from .row_pooling import PooledScores
from .weights import WeightSlot


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
    pooled: PooledScores | None = attribute(default=None)
    segment_keys: WeightSlot | None = weights(default=None)  # with `pooled`, whose bias is [heads][2][relative keys]
    sinks: WeightSlot | None = weights(default=None)  # [heads], times log2(e)
