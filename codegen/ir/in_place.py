# SPDX-License-Identifier: Apache-2.0
"""Ops of a graph that change one value, row by row."""

from __future__ import annotations

from dataclasses import dataclass

from .op import attribute, updated, weights
from .parameter import Parameter

LEAST_CAP = 2.0**-20  # and its inverse the largest


@dataclass(frozen=True)
class Normalize:
    """In place: each row divided by its Euclidean length, or by 1e-12 where that is larger."""

    value: str = updated()


@dataclass(frozen=True)
class Softmax:
    """In place: each row of logits to probabilities, which add up to 1; of several `heads` those of each."""

    value: str = updated()
    heads: int = attribute(default=1)


@dataclass(frozen=True)
class Cap:
    """In place: limit * tanh(value / limit), element by element."""

    value: str = updated()
    limit: float = attribute()


XIELU_NUMBERS = 4


@dataclass(frozen=True)
class Xielu:
    """In place, element by element (Huang 2024, arXiv:2411.13010): square * x^2 + linear * x above 0, elsewhere
    power * (e^min(x, most) - 1 - x) + linear * x. `numbers` are [square, power, most, linear]."""

    name: str = attribute()
    numbers: Parameter = weights()
    value: str = updated()
