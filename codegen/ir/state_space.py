# SPDX-License-Identifier: Apache-2.0
"""A state space of a graph: what a row takes from a matrix that a text carries from row to row."""

from __future__ import annotations

from dataclasses import dataclass

from .op import attribute, read, weights, written
from .parameter import Parameter

OUTPUT_LIMIT = 2.0**24  # what the runtime keeps rows within


@dataclass(frozen=True)
class StateSpace:
    """A state space that is chosen by its input and decays by head, as of Mamba-2 (Dao and Gu 2024, arXiv:2405.21060):
    a row takes from those before it in its text.

    `input` has values of `heads` heads and behind them B and then C of `groups` groups, each `state_width` wide; head h
    has those of group h * groups / heads. All go through silu. With x the values of a head, S its state
    [state_width, width], zeros before the first row, and d = softplus of its `time`, kept within `times`:

        S = S * exp(-rate * d) + outer(B, d * x); out = C S + skip * x

    Rows are products of three inputs, so that bounds of these say little about them: the runtime keeps them within
    -2^24 and 2^24."""

    name: str = attribute()
    rates: Parameter = weights()  # [heads]
    skips: Parameter = weights()  # [heads]
    heads: int = attribute()
    groups: int = attribute()
    state_width: int = attribute()
    times: tuple[float, float] = attribute()  # the least and the most
    input: str = read()
    time: str = read()
    out: str = written()

    @property
    def of_groups(self) -> int:
        """Values of all groups' B, as many as of their C."""
        return self.groups * self.state_width
