# SPDX-License-Identifier: Apache-2.0
"""The gated delta rule of a graph: what a row takes from a matrix that a text carries from row to row."""

from __future__ import annotations

from dataclasses import dataclass

from .op import attribute, read, weights, written
from .parameter import Parameter


@dataclass(frozen=True)
class DeltaRule:
    """Linear attention by the gated delta rule (Yang et al. 2024, arXiv:2412.06464): a row takes from those before it
    in its text.

    `input` has queries and keys of `key_heads` heads, each `key_width` wide, and behind them values of `heads` heads;
    head h has the queries and keys of h * key_heads / heads. All go through silu; then queries q and keys k of a head
    are divided by sqrt(sum of squares + 1e-6), q by sqrt(key_width), too. With v the values of a head, S its state
    [key_width, width], zeros before the first row, a its `decay` and b its `beta`, from 0 to 2:

        S = S * exp(-rate * softplus(a)); S = S + outer(k, b * (v - k S)); out = q S
    """

    name: str = attribute()
    rates: Parameter = weights()  # [heads]
    heads: int = attribute()
    key_heads: int = attribute()
    key_width: int = attribute()
    input: str = read()
    decay: str = read()
    beta: str = read()
    out: str = written()

    @property
    def keys(self) -> int:
        """Values of all heads' keys, as many as of their queries."""
        return self.key_heads * self.key_width
