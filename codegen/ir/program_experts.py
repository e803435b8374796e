# SPDX-License-Identifier: Apache-2.0
"""The ops of a program that send each row through some of several blocks."""

from __future__ import annotations

from dataclasses import dataclass

from .buffer import Buffer, Kind
from .experts import ExpertShares, ExpertWeighing
from .op import attribute, read, weights, written
from .weights import WeightSlot


@dataclass(frozen=True)
class ChooseExperts:
    """Of each row those with the largest scores, or with the largest sums of weight and bias, and how they are
    weighed."""

    weighing: ExpertWeighing = attribute()
    scores: Buffer = read()
    out: Buffer = written()
    bias: WeightSlot | None = weights(default=None)
    shares: ExpertShares | None = attribute(default=None)


@dataclass(frozen=True)
class SelectRows:
    """The rows that each expert has, one expert's behind the other's."""

    routes: Buffer = read()
    input: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class ExpertLinear:
    """Of each expert's rows, by its weights: as many outputs as `out` is wide, and rows up to a panel's."""

    kind: Kind = attribute()
    weights: WeightSlot = weights()
    routes: Buffer = read()
    input: Buffer = read()
    activation: str = attribute()
    out: Buffer = written()


@dataclass(frozen=True)
class MixExperts:
    """Of each row the sum of what its experts made, by their weights."""

    routes: Buffer = read()
    input: Buffer = read()
    out: Buffer = written()
