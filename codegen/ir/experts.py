# SPDX-License-Identifier: Apache-2.0
"""Experts of a graph: feed-forward blocks of which each row goes through a few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .clamped_gate import ClampedGate
from .op import attribute, parts, read, weights, written
from .parameter import Parameter


@dataclass(frozen=True)
class ExpertLinear:
    """A linear of each expert: W [experts * outputs, inputs] and bias, one expert's below the other's."""

    name: str = attribute()
    weight: Parameter = weights()
    bias: Parameter | None = weights(default=None)


ExpertWeighing = Literal["all", "chosen", "each"]


@dataclass(frozen=True)
class ExpertShares:
    """What the weights of a row's experts are divided by: their sum and `added`, at least `least`. Of a program both
    are rounded to float32."""

    added: float = 0.0
    least: float = 0.0


@dataclass(frozen=True)
class Experts:
    """A mixture of `experts` feed-forward blocks. A row goes through the `top` of them that have its largest `scores`,
    of equal ones the lower first: out = the sum of weight * block(input), weights being the softmax of all scores of
    the row, that of the chosen ones, or the sigmoid of each. With a `bias` [experts] the experts with the largest
    sums of that and the softmax of all, or the sigmoid of each, are chosen; it counts in nothing else. With `shares`
    weights are divided by what that says.

    A block is output(activation(inner(input))), or of three linears output(activation(gate(input)) * up(input)), or
    with `clamped`, and no activation, of what that makes of gate(input) and up(input).
    """

    linears: tuple[ExpertLinear, ...] = parts()  # (inner, output) or (gate, up, output)
    experts: int = attribute()
    top: int = attribute()
    weighing: ExpertWeighing = attribute()
    activation: str = attribute()
    scores: str = read()
    input: str = read()
    out: str = written()
    clamped: ClampedGate | None = attribute(default=None)
    bias: Parameter | None = weights(default=None)
    shares: ExpertShares | None = attribute(default=None)

    @property
    def inner(self) -> int:
        """How wide a block is inside."""
        return self.linears[-1].weight.shape[1]
