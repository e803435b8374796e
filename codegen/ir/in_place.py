# SPDX-License-Identifier: Apache-2.0
"""Ops of a graph that change one value, row by row."""

from __future__ import annotations

from dataclasses import dataclass

from .op import attribute, updated

LEAST_CAP = 2.0**-20  # and its inverse the largest


@dataclass(frozen=True)
class Normalize:
    """In place: each row divided by its Euclidean length, or by 1e-12 where that is larger."""

    value: str = updated()


@dataclass(frozen=True)
class Softmax:
    """In place: each row of logits to probabilities, which add up to 1."""

    value: str = updated()


@dataclass(frozen=True)
class Cap:
    """In place: limit * tanh(value / limit), element by element."""

    value: str = updated()
    limit: float = attribute()
